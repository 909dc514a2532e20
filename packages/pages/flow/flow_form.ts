import type { FlowEntry, FlowView, ProofStep } from "@accountlink/core/flow";
import { isGuildId } from "@accountlink/core/ids";
import type { RequestContext } from "@accountlink/http/for_pages";
import { formTo, type html } from "../html.ts";

export const isGiven = (value: unknown): value is string => typeof value === "string" && value !== "";

/** Returns the session or scope that the query names; null if it names none, or a parameter is repeated or malformed. */
export const entryOf = ({ query }: RequestContext): FlowEntry | null => {
  const { sid, pid, guildId, redirect } = query;
  if ([sid, pid, guildId, redirect].some((value) => Array.isArray(value))) return null;
  if (isGiven(sid)) return { sid };
  if (!isGiven(pid) || (isGiven(guildId) && !isGuildId(guildId))) return null;
  return { pid, guildId: isGiven(guildId) ? guildId : null, redirect: isGiven(redirect) ? redirect : null };
};

/** Shows the last page of a browser again, which its cookie keeps: an answer to a form has no address of its own. */
export const lastPagePath = "/verify/confirm";

/** The address of a page of the flow; by default `/verify`, which opens a session or begins a verification for a scope. */
export const flowPath = (entry: FlowEntry, page: "" | "/game/words" | `/${ProofStep}/start` = ""): string => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(entry)) if (typeof value === "string") query.set(name, value);
  return `/verify${page}?${query}`;
};

export const form = (action: string, { sid }: FlowView): typeof html =>
  formTo(action, sid === null ? {} : { sid });
