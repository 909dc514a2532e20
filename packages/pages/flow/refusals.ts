/** The error pages of the flow: each says why it appears, and what to do next. @internal */
import type { BadRequest } from "@accountlink/core/errors";
import type { FlowEntry, FlowRefusal, FlowRefused } from "@accountlink/core/flow";
import type { SessionState } from "@accountlink/core/sessions";
import { cardHtml, chatCard } from "../account_card.ts";
import { html } from "../html.ts";
import type { Page } from "../page.ts";
import type { PageSettingsShape } from "../page_settings.ts";
import { type CodeRefusal, codePage } from "./code_page.ts";
import { queryOf } from "./pages.ts";

interface Refusal {
  readonly status: number;
  readonly title: string;
  readonly text: string | ((names: PlatformNames & { readonly denied: string }) => string);
  readonly again?: string;
}

type PlatformNames = Pick<PageSettingsShape, "chatName" | "gameName">;

type Ending = Exclude<SessionState, "pending" | "opened" | "expired">;

/** Refusals that exist only in the HTTP layer. */
type OwnRefusal =
  | "no_entry"
  | "nowhere"
  | "unreadable"
  | "misplaced"
  | "too_many"
  | "store_down"
  | "defect"
  | "no_sign_ins";

export type RefusalName = Exclude<FlowRefusal, "over" | CodeRefusal> | Ending | OwnRefusal;

const newLink = "Ask for a new link or code where you got this one.";

export const refusals: Record<RefusalName, Refusal> = {
  no_entry: {
    status: 400,
    title: "This link is not complete",
    text: `The address does not name a verification. ${newLink}`,
  },
  nowhere: {
    status: 404,
    title: "There is no such page",
    text: "Check the address, or go to the start.",
  },
  unknown: {
    status: 404,
    title: "This link does not work",
    text: `This verification does not exist, or it ended some time ago. Check that the link is complete. ${newLink}`,
  },
  bad_redirect: {
    status: 400,
    title: "This link is not safe",
    text: "It would send you to a site that the community has not approved. Nothing was linked. Tell the person who sent you the link.",
  },
  no_guild: {
    status: 403,
    title: "The community is not available",
    text: "The link is for another community, or the bot is not in this one. Tell the community's team.",
  },
  expired: {
    status: 410,
    title: "This link has expired",
    text: "A verification has to be finished within a few minutes, so that nobody else can continue it. Nothing was linked. Start again where you got the link or code.",
    again: "Start again",
  },
  wrong_user: {
    status: 403,
    title: "This link is for somebody else",
    text: ({ chatName }) =>
      `The account on ${chatName} that you signed in with is not the one that this verification was made for. Sign in with the account that asked for it.`,
    again: "Use another account",
  },
  not_a_member: {
    status: 403,
    title: "You are not in the community",
    text: ({ chatName }) =>
      `The account on ${chatName} that you signed in with is not a member of the community. Join it first, or sign in with the account that is a member.`,
    again: "Try again",
  },
  platform_down: {
    status: 503,
    title: "The platform does not answer",
    text: "We could not check who you are or whether you are in the community. Nothing was linked. Wait a moment and try again.",
    again: "Try again",
  },
  denied: {
    status: 403,
    title: "You did not sign in",
    text: ({ denied }) =>
      `You did not allow ${denied} to tell us who you are, so nothing was linked. You can try again or close this page.`,
    again: "Try again",
  },
  sign_in_invalid: {
    status: 400,
    title: "This sign-in cannot be used",
    text: "It was already used, is too old, was started in another browser or tab, or was refused by the platform. Nothing was linked.",
    again: "Start again",
  },
  unfinished: {
    status: 400,
    title: "Something is missing",
    text: ({ chatName, gameName }) => `Sign in to ${chatName} first, then to ${gameName}.`,
    again: "Continue",
  },
  lost: {
    status: 400,
    title: "This page is out of date",
    text: "This browser has no open verification: it was finished, cancelled or started again, or cookies are blocked. Open the link or enter the code again in one browser, with cookies allowed.",
    again: "Start again",
  },
  forged: {
    status: 403,
    title: "This form cannot be used",
    text: "It does not come from the latest page in this browser. Nothing was linked. Open the link or enter the code again and continue there.",
  },
  link_changed: {
    status: 409,
    title: "Your link has changed meanwhile",
    text: "It is no longer the one that you saw, so nothing was saved. Look at it again and decide.",
    again: "Start again",
  },
  completed: {
    status: 409,
    title: "You are already done",
    text: "This verification was finished, and the accounts are linked. You can close this page.",
  },
  cancelled: {
    status: 409,
    title: "This was cancelled",
    text: `Nothing was linked. ${newLink}`,
  },
  failed: {
    status: 409,
    title: "Your link was removed meanwhile",
    text: `That ended this verification, and nothing was linked. ${newLink}`,
  },
  unreadable: {
    status: 400,
    title: "This form cannot be read",
    text: "It is too large. Nothing was linked. Open the link or enter the code again and continue there.",
  },
  misplaced: {
    status: 405,
    title: "This address is not a page",
    text: "This address is not a page. Open the link or enter the code again to see how far you are. If you have linked your accounts, you are done.",
  },
  too_many: {
    status: 429,
    title: "Too many requests",
    text: "There were very many requests from your network. Wait a while and try again.",
  },
  store_down: {
    status: 503,
    title: "This does not work right now",
    text: "Our storage does not respond. Wait a moment, then open the link or enter the code again.",
  },
  defect: {
    status: 500,
    title: "Something went wrong here",
    text: "This is our mistake, and it was logged. Open the link or enter the code again to see how far you are. If this page appears again, tell the community's team.",
  },
  no_sign_ins: {
    status: 503,
    title: "Nobody can sign in here",
    text: ({ chatName, gameName }) =>
      `This service asks neither ${chatName} nor ${gameName} who you are, so its pages for users and owners are off. Ask the community's team to link your accounts.`,
  },
};

export const refusalPage = (
  { reason, entry, state, account, step }: FlowRefused,
  platforms: PlatformNames,
): Page => {
  if (reason === "unknown_code" || reason === "ended_code") return codePage(reason);
  if (reason === "over") return namedRefusalPage(isEnding(state) ? state : "expired", platforms);
  // A URL that names an expired session cannot be used again, so the page must not link back to it. A URL that names a
  // scope can, because it starts a new verification.
  const isOver = reason === "expired" && entry !== null && "sid" in entry;
  return namedRefusalPage(reason, platforms, isOver ? null : entry, account, step);
};

export const unmatched: Record<BadRequest["problem"], RefusalName> = {
  unreadable: "no_entry",
  not_found: "unknown",
  method_not_allowed: "misplaced",
};

/** The refusals whose pages link to the field for a code, because the text tells users to enter one. */
const withCode: ReadonlySet<RefusalName> = new Set([
  "no_entry",
  "unknown",
  "expired",
  "lost",
  "forged",
  "cancelled",
  "failed",
]);

const isEnding = (state: SessionState | undefined): state is Ending =>
  state === "completed" || state === "cancelled" || state === "failed";

/**
 * Makes the page for a refusal. With `entry`, the page can link back to the flow. With `account`, the page shows the
 * account that signed in.
 */
export const namedRefusalPage = (
  name: RefusalName,
  platforms: PlatformNames,
  entry: FlowEntry | null = null,
  account?: FlowRefused["account"],
  step: FlowRefused["step"] = "chat",
): Page => {
  const { status, title, text, again }: Refusal = refusals[name];
  const card = account === undefined ? null : chatCard(account);
  return {
    status,
    title,
    pictures: card?.picture ? [card.picture] : [],
    content: html`
<h1>${title}</h1>
<p>${typeof text === "string" ? text : text({ ...platforms, denied: step === "chat" ? platforms.chatName : platforms.gameName })}</p>
${card && html`<p class="who">You are signed in as:</p>${cardHtml(card)}`}
${name === "nowhere" ? html`<p><a class="button" href="/">Go to the start</a></p>` : null}
${again === undefined || entry === null ? null : html`<p><a class="button" href="/verify?${queryOf(entry)}">${again}</a></p>`}
${withCode.has(name) ? html`<p><a class="button quiet" href="/go">Enter a code</a></p>` : null}`,
  };
};
