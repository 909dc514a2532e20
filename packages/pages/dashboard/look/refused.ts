/** A form that was refused: its status and its messages, which the page shows with the form. */

import type { ParameterProblem, PublicError } from "@accountlink/core/errors";
import { statusOf } from "@accountlink/http-api";
import { type Array, Effect } from "effect";
import { type Html, html } from "../../html.ts";
import type { SiteError } from "../../sign_ins/refusals.ts";
import type { PlatformNames } from "./names.ts";

export interface Refused {
  readonly status: number;
  readonly problems: ReadonlyArray<ParameterProblem>;
  /** An error message about the whole form; null if every message concerns a field. */
  readonly general: string | null;
}

/** A refused form of a page that has several. */
export interface RefusedAct<Act extends string> extends Refused {
  readonly act: Act;
}

/** @param general an error message about the whole form */
export const refusedFor = (problems: Refused["problems"], general: string | null = null): Refused | null =>
  problems.length === 0 && general === null ? null : { status: 400, problems, general };

/** The tags of errors about the values of a form. */
const valueErrors = [
  "MissingParameter",
  "InvalidParameter",
  "InvalidBody",
  "Conflict",
  "RateLimited",
] as const;

/** The tags of errors about a form that names a guild of the user. */
export const guildErrors = [...valueErrors, "Forbidden", "PlatformUnavailable"] as const;

type FormTag = (typeof guildErrors)[number];

/**
 * Shows the form again with the reason if it was refused.
 *
 * @param platforms their names, for errors that name one
 */
export const orShowAgain = <A, B>(
  answer: Effect.Effect<A, SiteError>,
  show: (refused: Refused) => Effect.Effect<B, SiteError>,
  tags: Array.NonEmptyReadonlyArray<FormTag> = valueErrors,
  platforms: PlatformNames = unnamed,
) => Effect.catchTag(answer, tags, (error) => show(refusalOf(error, platforms)));

const unnamed: PlatformNames = { chat: "the chat platform", game: "the game platform" };

const refusalOf = (
  error: Extract<PublicError, { readonly _tag: FormTag }>,
  platforms: PlatformNames,
): Refused => {
  const refused = { status: statusOf(error), problems: [], general: null };
  switch (error._tag) {
    case "MissingParameter":
      return {
        ...refused,
        problems: error.parameters.map((name) => ({ name, reason: "fill this in" })),
      };
    case "InvalidParameter":
      return { ...refused, problems: error.parameters };
    case "Forbidden": {
      const reason = guildReasons[error.reason === "bot_not_in_guild" ? "bot" : "manager"];
      return { ...refused, problems: [{ name: "guildId", reason }] };
    }
    case "Conflict":
      return { ...refused, general: conflicts[error.reason] ?? error.message };
    case "InvalidBody":
      return { ...refused, general: `Nothing was changed: ${error.reason}.` };
    case "RateLimited": {
      const minutes = Math.ceil(error.retryAfter / 60);
      return {
        ...refused,
        general: `Nothing was changed: ${error.message}. Try again in ${minutes} minutes.`,
      };
    }
    case "PlatformUnavailable":
      if (error.refusal !== undefined) return refusalOf(error.refusal, platforms);
      return {
        ...refused,
        general: `Nothing was changed: ${platforms[error.platform]} does not answer. Try again.`,
      };
  }
};

const guildReasons = {
  bot: "the bot is not in it",
  manager: "you do not manage it yourself, which no role in the team replaces",
};

const conflicts: Readonly<Record<string, string>> = {
  key_limit:
    "No key was created: your plan allows no more keys. Revoke one that you do not need. Members link without a key: keys are for programs of your own.",
  import_day:
    "Nothing was changed: imports and their undos changed three times as many links today as your plan holds. Try again tomorrow.",
  key_rate: "Nothing was changed: 20 keys were made today. Make the next one tomorrow (UTC).",
  key_revoked: "Nothing was changed: the key is revoked.",
  webhook_limit: "Nothing was changed: there are five webhooks already. Delete one that you do not need.",
  guild_has_plan:
    "Nothing was changed: the rules of another list or account are on for this community. Pause those first.",
  plan_changed:
    "Somebody else has changed these rules since you opened the page. Saving again replaces theirs by yours.",
  test_limit:
    "Nothing was sent: three tests or resent events of yours wait for an answer. Try again when they have ended.",
  name_taken: "Nothing was changed: another account has this name.",
  member_exists: "This user is in the team or invited already.",
  member_limit: "The team is full: it has 25 people, with those who are invited.",
  last_owner: "A team needs an owner who has accepted. Make somebody else an owner first.",
  account_limit:
    "Nothing was changed: nobody may run more than three free accounts, as an owner or admin. Leave or delete one first, or join as a moderator.",
};

/**
 * Lists the problems of a form above the form. The list has the focus, so that screen readers announce it first.
 *
 * @param labels the labels of the fields, by API name
 */
export const problemSummary = (
  { problems, general }: Refused,
  labels: Readonly<Record<string, string>>,
): Html => html`
<div class="notice bad" role="alert" tabindex="-1" autofocus>
<p>${general ?? "Nothing was changed: some fields need another value."}</p>
${
  problems.length === 0
    ? null
    : html`<ul>${problems.map(({ name, reason }) => html`<li><a href="#${name}">${labels[name] ?? name}</a>: ${reason}</li>`)}</ul>`
}
</div>`;
