"""How do the workers of one generation find each other and compute together?

- `rendezvous`: how the members of a plan find each other
- `store`: the board on which they leave their addresses
- `group`: how they reach each other, once they have met
- `gloo`, `nccl`: how tensors become sums, on the host and on GPUs
- `gpu_offer`: whether they exchange through NCCL
- `wires`: how a collective ends whose other side neither answers nor dies
"""
