import type { PublicError } from "@accountlink/core/errors";
import { type KindStatuses, kindStatus, type RefusalKind, refusalKind } from "./refusal_kind.ts";

export const bloxlinkPrefix = "/compat/bloxlink";

const statuses: KindStatuses = {
  unlinked: 404,
  unauthorized: 400,
  wrong_guild: 401,
  bot_not_in_guild: 404,
};

const texts: Partial<Record<RefusalKind, string>> = {
  unauthorized: "Invalid API Key",
  wrong_guild: "Guild ID does not match API Key",
};

/** @param unlinked the message of the error for a user without a link */
export const bloxlinkRefusal = (error: PublicError, unlinked: string) => {
  const kind = refusalKind(error);
  const text = kind === "unlinked" ? unlinked : (texts[kind] ?? error.message);
  return { status: kindStatus(error, statuses), text };
};
