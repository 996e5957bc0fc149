/** How is a node taken out of service and put back, and whom does it hit? */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import type { Maintenance } from "../domain/maintenance";
import { client, unwrap } from "./client";

/** Jobs that hold GPUs of it, at this moment. */
export function useLeavingJobs(node: string) {
  return useQuery({
    queryKey: ["node", node, "jobs"],
    queryFn: () =>
      unwrap(client.GET("/api/v1/nodes/{name}/jobs", { params: { path: { name: node } } })),
    staleTime: 0,
    gcTime: 0, // whoever asks once more wants to know it of then
  });
}

export function useMaintenance(node: string, what: Maintenance) {
  const queries = useQueryClient();
  const params = { params: { path: { name: node } } };
  return useMutation({
    mutationFn: () => {
      switch (what) {
        case "cordon":
          return unwrap(client.POST("/api/v1/nodes/{name}/cordon", params));
        case "drain":
          return unwrap(client.POST("/api/v1/nodes/{name}/drain", params));
        case "uncordon":
          return unwrap(client.POST("/api/v1/nodes/{name}/uncordon", params));
      }
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ["pools"] }),
  });
}
