/** Converts an error into the status and the messages of a form that is shown again. */
import type {
  Conflict,
  Forbidden,
  InvalidBody,
  InvalidParameter,
  MissingParameter,
  PlatformUnavailable,
} from "@accountlink/core/errors";
import { statusOf } from "@accountlink/http-api";
import type { Refused } from "./new_key_page.ts";

export type KeyFormError =
  | MissingParameter
  | InvalidParameter
  | InvalidBody
  | Forbidden
  | Conflict
  | PlatformUnavailable;

/** The tags of all errors after which a form is shown again. */
export const formErrors = [
  "MissingParameter",
  "InvalidParameter",
  "InvalidBody",
  "Forbidden",
  "Conflict",
  "PlatformUnavailable",
] as const satisfies ReadonlyArray<KeyFormError["_tag"]>;

export const refusalOf = (error: KeyFormError): Refused => {
  const status = statusOf(error);
  switch (error._tag) {
    case "MissingParameter":
      return {
        status,
        problems: error.parameters.map((name) => ({ name, reason: "fill this in" })),
        general: null,
      };
    case "InvalidParameter":
      return { status, problems: error.parameters, general: null };
    case "Forbidden":
      return { status, problems: [{ name: "guildId", reason: guildReason(error) }], general: null };
    case "Conflict":
      return { status, problems: [], general: conflicts[error.reason] ?? error.message };
    case "InvalidBody":
      return { status, problems: [], general: `Nothing was changed: ${error.reason}.` };
    case "PlatformUnavailable":
      return {
        status,
        problems: [],
        general: "Nothing was changed: the platform does not answer. Try again.",
      };
  }
};

const guildReason = ({ reason }: Forbidden): string =>
  reason === "bot_not_in_guild"
    ? "the bot is not in it"
    : "you do not manage it yourself, which no role in the team replaces";

const conflicts: Readonly<Record<string, string>> = {
  key_limit: "Nothing was changed: your plan allows no more keys. Revoke one that you do not need.",
  key_revoked: "Nothing was changed: the key is revoked.",
  webhook_limit: "Nothing was changed: there are five webhooks already. Delete one that you do not need.",
  guild_has_plan:
    "Nothing was saved: the rules of another list or account are on for this community. Pause those first.",
  test_limit: "Nothing was sent: three tests of yours wait for an answer. Try again when they have ended.",
};
