import type { Sid } from "../ids.ts";

/** Adds the session and the outcome of the flow to the query of a redirect. */
export const withOutcome = (redirect: string, sid: Sid | null, state: "completed" | "cancelled"): string => {
  const url = new URL(redirect);
  if (sid !== null) url.searchParams.set("sid", sid);
  url.searchParams.set("state", state);
  return url.href;
};
