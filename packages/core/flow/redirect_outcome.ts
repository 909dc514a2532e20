import type { Sid } from "../ids.ts";

/** A redirect with its session and how the flow ended in the query. */
export const withOutcome = (redirect: string, sid: Sid | null, state: "completed" | "cancelled"): string => {
  const url = new URL(redirect);
  if (sid !== null) url.searchParams.set("sid", sid);
  url.searchParams.set("state", state);
  return url.href;
};
