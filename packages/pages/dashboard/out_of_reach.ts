/** The pages for a closed community, and for an address at which the reader's account has nothing. */
import { Effect } from "effect";
import { html, to } from "../html.ts";
import type { SiteError } from "../sign_ins/refusals.ts";
import { say } from "./look/say.ts";
import type { Page } from "./page.ts";
import { may, paths } from "./paths.ts";

/** Shows why a page or form is out of reach. */
export const orOutOfReach = <A>(answer: Effect.Effect<A, SiteError>) =>
  answer.pipe(
    Effect.catchIf(isClosed, () => Effect.succeed(closedPage)),
    Effect.catchIf(isMissing, () => Effect.succeed(missingPage)),
  );

/** Whether the bot is not in the community, or nobody of the account manages it. */
const isClosed = (error: SiteError): boolean =>
  error._tag === "Forbidden" && ["not_guild_manager", "bot_not_in_guild"].includes(error.reason);

const closedPage: Page = {
  status: 403,
  title: say("refused.closed.title"),
  section: "communities",
  content: html`<p>${say("refused.closed")}</p>
${may(paths.communities, html`<p><a href="${to(paths.communities)}">${say("menu.communities")}</a></p>`)}`,
};

const isMissing = (error: SiteError): boolean => error._tag === "BadRequest" && error.problem === "not_found";

const missingPage: Page = {
  status: 404,
  title: say("refused.missing.title"),
  section: "account",
  content: html`<p>${say("refused.missing")}</p>
<p><a href="${to(paths.overview)}">${say("menu.overview")}</a></p>`,
};
