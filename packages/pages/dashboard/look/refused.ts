/** A form that was refused: its status and its messages, which the page shows with the form. */

import type { ConflictReason, PublicError } from "@accountlink/core/errors";
import { statusOf } from "@accountlink/http-api";
import { type Array, Effect } from "effect";
import { type Html, html, type Problem } from "../../html.ts";
import type { SiteError } from "../../sign_ins/refusals.ts";
import { messageText, platforms } from "./names.ts";
import { problemHtml, saidOr } from "./reasons.ts";
import { say } from "./say.ts";

/** Parameters of this type are null if no form was refused. */
export interface Refused {
  readonly status: number;
  readonly problems: ReadonlyArray<Problem>;
  /** An error message about the whole form; null if every message concerns a field. */
  readonly general: string | Html | null;
  /** After how many seconds the form may be sent again, if a limit refused it. */
  readonly retryAfter?: number;
  readonly conflict?: ConflictReason;
}

export const refusedFor = (
  problems: Refused["problems"],
  general: Refused["general"] = null,
): Refused | null => (problems.length === 0 && general === null ? null : { status: 400, problems, general });

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

/** Shows the form again with the reason if it was refused. */
export const orShowAgain = <A, B>(
  answer: Effect.Effect<A, SiteError>,
  show: (refused: Refused) => Effect.Effect<B, SiteError>,
  tags: Array.NonEmptyReadonlyArray<FormTag> = valueErrors,
) => Effect.catchTag(answer, tags, (error) => show(refusalOf(error)));

const refusalOf = (error: Extract<PublicError, { readonly _tag: FormTag }>): Refused => {
  const refused = { status: statusOf(error), problems: [], general: null };
  switch (error._tag) {
    case "MissingParameter":
      return {
        ...refused,
        problems: error.parameters.map((name) => ({ name, reason: say("refused.empty") })),
      };
    case "InvalidParameter":
      return { ...refused, problems: error.parameters };
    case "Forbidden": {
      const reason = say(error.reason === "bot_not_in_guild" ? "refused.bot" : "refused.manager");
      return { ...refused, problems: [{ name: "guildId", reason }] };
    }
    case "Conflict":
      return {
        ...refused,
        general: saidOr(`conflict.${error.reason}`, error.message),
        conflict: error.reason,
      };
    case "InvalidBody":
      return { ...refused, general: say("refused.unreadable") };
    case "RateLimited": {
      const minutes = Math.ceil(error.retryAfter / 60);
      return {
        ...refused,
        general: say("refused.limit", { reason: limitHtml(error), minutes }),
        retryAfter: error.retryAfter,
      };
    }
    case "PlatformUnavailable":
      if (error.refusal !== undefined) return refusalOf(error.refusal);
      return {
        ...refused,
        general: say("refused.platform_down", { platform: platforms[error.platform] }),
      };
  }
};

/** What the dashboard says of a limit, or else what core says. */
const limitHtml = ({
  bucket,
  limit,
  message,
}: Extract<PublicError, { readonly _tag: "RateLimited" }>): Html =>
  saidOr(`limit.${bucket}`, message, { limit });

/** Says in a part of a sentence why something was not done. */
export const reasonOf = (error: SiteError): Html => {
  switch (error._tag) {
    case "RateLimited":
      return limitHtml(error);
    case "PlatformUnavailable":
      return say("refused.no_answer", { platform: platforms[error.platform] });
    default:
      return messageText(error);
  }
};

/**
 * Lists the problems of a form above the form. The list has the focus, so that screen readers announce it first.
 *
 * @param labels the labels of the fields, by API name
 */
export const problemSummary = (
  { problems, general }: Refused,
  labels: Readonly<Record<string, string | Html>>,
): Html => html`
<div class="notice bad" role="alert" tabindex="-1" autofocus>
<p>${general ?? say("refused.fields")}</p>
${
  problems.length > 0 &&
  html`<ul>${problems.map((problem) => html`<li><a href="#${problem.name}">${labels[problem.name] ?? problem.name}</a>: ${problemHtml(problem)}</li>`)}</ul>`
}
</div>`;
