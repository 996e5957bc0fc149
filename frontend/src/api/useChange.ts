/** Something that is changed, after which this part of what is known is read anew. */

import { useMutation, useQueryClient } from "@tanstack/react-query";

export function useChange<Wish, Answer>(
  part: readonly string[],
  change: (wish: Wish) => Promise<Answer>,
) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    gcTime: 0, // what was typed, or a key that was made, is forgotten with what shows it
    onSuccess: () => queries.invalidateQueries({ queryKey: part }),
  });
}
