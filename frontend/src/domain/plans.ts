/** What is said of jobs that no plan looks into? */

export function countOfLeftOut(jobs: number): string | null {
  if (jobs <= 0) return null;
  const [subject, verb] = jobs === 1 ? ["1 job", "is"] : [`${jobs} jobs`, "are"];
  return `${subject} ${verb} left out of plans, with reason planning_failed: the others are planned.`;
}
