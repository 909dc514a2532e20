/** The error pages of the flow: each says why it appears, and what to do next. @internal */
import type { BadRequest } from "@accountlink/core/errors";
import type { FlowEntry, FlowRefusal, FlowRefused, SessionOnward } from "@accountlink/core/flow";
import type { SessionState } from "@accountlink/core/sessions";
import { cardHtml, picturesOf } from "../account_card.ts";
import { type Html, html, to } from "../html.ts";
import { code, type PlainKey } from "../languages/language.ts";
import type { Page } from "../page.ts";
import { capitalised, longMoment, platforms, said } from "../said.ts";
import { flowPath, lastPagePath } from "./flow_form.ts";
import { supportNote, wayBack } from "./pages.ts";

interface Refusal {
  readonly status: number;
  /** The label of the button that opens the flow again. */
  readonly again?: PlainKey;
  /** Pages to go on with. */
  readonly ways?: ReadonlyArray<keyof typeof ways>;
  /** Whether only the community can help. */
  readonly isForTeam?: true;
}

type Ending = Exclude<SessionState, "pending" | "opened" | "expired">;

/** Refusals that exist only in the HTTP layer. */
type OwnRefusal =
  | "completed_removed"
  | "no_entry"
  | "nowhere"
  | "unreadable"
  | "misplaced"
  | "too_many"
  | "store_down"
  | "defect"
  | "no_sign_ins";

export type RefusalName = Exclude<FlowRefusal, "over" | "bot_gone" | CodeRefusal> | Ending | OwnRefusal;

const ways = {
  start: ["/", "refusal.home"],
  code: ["/go", "home.code"],
  data: ["/me", "home.data"],
} as const;

/** A refusal whose text tells users to enter a code has a link to the page for it. */
export const refusals: Readonly<Record<RefusalName, Refusal>> = {
  no_entry: { status: 400, ways: ["code"] },
  nowhere: { status: 404, ways: ["start"] },
  unknown: { status: 404, ways: ["code"] },
  bad_redirect: { status: 400 },
  no_guild: { status: 403, isForTeam: true },
  expired: { status: 410, again: "refusal.again", ways: ["code"] },
  wrong_user: { status: 403, again: "chat.verify.other" },
  player_named: { status: 403, again: "code.continue" },
  not_a_member: { status: 403, again: "refusal.retry", isForTeam: true },
  platform_down: { status: 503, again: "refusal.retry" },
  denied: { status: 403, again: "refusal.retry" },
  sign_in_invalid: { status: 400, again: "refusal.again" },
  unfinished: { status: 400, again: "code.continue" },
  lost: { status: 400, again: "refusal.again", ways: ["code"] },
  forged: { status: 403, again: "refusal.again", ways: ["code"] },
  link_changed: { status: 409, again: "refusal.again" },
  full: { status: 409, again: "refusal.retry", isForTeam: true },
  taken: { status: 409, again: "code.continue" },
  // A button for another account would invite to evade the block.
  blocked: { status: 403, isForTeam: true },
  too_young: { status: 403, again: "chat.verify.other", isForTeam: true },
  age_unknown: { status: 403, again: "chat.verify.other", isForTeam: true },
  too_many_tries: { status: 429, again: "refusal.how_far" },
  completed: { status: 409, ways: ["data"] },
  completed_removed: { status: 409, again: "refusal.again", ways: ["code", "data"] },
  cancelled: { status: 409, again: "refusal.again", ways: ["code"] },
  failed: { status: 409, again: "refusal.again", ways: ["code"] },
  unreadable: { status: 413 },
  misplaced: { status: 405, again: "refusal.how_far", ways: ["code", "data"] },
  too_many: { status: 429, again: "refusal.how_far" },
  store_down: { status: 503, again: "refusal.how_far" },
  defect: { status: 500, again: "refusal.how_far" },
  no_sign_ins: { status: 503 },
};

/** The page in another language is the refusal again, not what its button leads to. */
export const refusalPage = (refused: FlowRefused): Page => {
  const { entry, lastPage = null } = refused;
  const page = pageOf(refused);
  if (lastPage !== null) return { ...page, address: lastPagePath };
  return entry === null ? page : { ...page, address: flowPath(entry) };
};

const pageOf = ({
  reason,
  entry,
  state,
  isPast,
  isStillLinked,
  onward,
  account,
  supportUrl,
  step,
  from,
}: FlowRefused): Page => {
  if (reason === "unknown_code" || reason === "ended_code") return codePage(reason);
  // The address is unknown as long as nobody can link by it, but members learn why.
  if (reason === "bot_gone") return { ...namedRefusalPage("no_guild"), status: 404 };
  if (reason === "over") {
    const ending = isEnding(state) ? state : "expired";
    const name = ending === "completed" && isStillLinked === false ? "completed_removed" : ending;
    const page = namedRefusalPage(name, againIn(onward), { onward });
    return isPast === true ? { ...page, status: refusals.expired.status } : page;
  }
  // The URL of an expired session starts nothing any more, but the URL of its scope starts a new verification.
  const isOver = reason === "expired" && entry !== null && "sid" in entry;
  const told = { account, supportUrl, step, from, onward };
  return namedRefusalPage(reason, isOver ? againIn(onward) : entry, told);
};

/** The entry for a new verification in the community of an ended session. */
const againIn = (onward: SessionOnward | undefined): FlowEntry | null =>
  onward === undefined ? null : { pid: onward.pid, guildId: onward.guildId, redirect: null };

export const unmatched: Record<BadRequest["problem"], RefusalName> = {
  unreadable: "no_entry",
  not_found: "unknown",
  method_not_allowed: "misplaced",
};

const isEnding = (state: SessionState | undefined): state is Ending =>
  state === "completed" || state === "cancelled" || state === "failed";

/** Makes the page for a refusal, with a link to `entry`, to the places `onward`, and the `account` that signed in. */
export const namedRefusalPage = (
  name: RefusalName,
  entry: FlowEntry | null = null,
  {
    account,
    supportUrl = null,
    step = "chat",
    onward: place,
    from = 0,
  }: {
    readonly [Name in "account" | "supportUrl" | "step" | "onward" | "from"]?: FlowRefused[Name] | undefined;
  } = {},
): Page => {
  const { status, again, ways: onward = [], isForTeam = false } = refusals[name];
  const title = refusalTitle(name, step);
  const address = entry && flowPath(entry);
  return {
    status,
    title,
    pictures: picturesOf([account ?? null]),
    content: html`
<h1>${title}</h1>
<p>${said(`refusal.${name}.text`, { platform: platforms[step], from: longMoment(from) })}</p>
${account !== undefined && html`<p class="who">${said("refusal.signed_in_as")}</p>${cardHtml(account)}`}
${again !== undefined && address !== null && button(address, said(again))}
${place !== undefined && wayBack(place, " quiet")}
${onward.map((way) => button(ways[way][0], said(ways[way][1]), name === "nowhere" ? "" : " quiet"))}
${isForTeam && supportNote({ supportUrl })}`,
  };
};

export const refusalTitle = (name: RefusalName, step: keyof typeof platforms = "chat"): Html =>
  capitalised(said(`refusal.${name}.title`, { platform: platforms[step] }));

const button = (path: string, label: Html, look = ""): Html =>
  html`<p><a class="button${look}" href="${to(path)}">${label}</a></p>`;

/** Why the service refused the code that a user entered. */
export type CodeRefusal = "unknown_code" | "ended_code" | "too_many_codes";

const statuses: Readonly<Record<CodeRefusal, number>> = {
  unknown_code: 404,
  ended_code: 404,
  too_many_codes: 429,
};

/** @param typed the code that the user has entered */
export const codePage = (refused: CodeRefusal | null, typed = ""): Page => ({
  status: refused === null ? 200 : statuses[refused],
  title: said("code.title"),
  address: "/go",
  content: html`
<form method="post" action="${to("/go")}" class="code">
<h1><label for="code">${said("code.title")}</label></h1>
${refused !== null && html`<p class="problem" id="problem" role="alert">${said(`code.${refused}`)}</p>`}
<input id="code" name="code" value="${typed.slice(0, longestTyped)}" required autofocus maxlength="${longestTyped}"
placeholder="${example}" inputmode="text" dir="ltr"
autocomplete="one-time-code" autocapitalize="characters" autocorrect="off" spellcheck="false" enterkeyhint="go"
aria-describedby="${refused === null ? "hint" : "problem hint"}"${refused !== null && html` aria-invalid="true"`}>
<button class="button">${said("code.continue")}</button>
<p class="aside" id="hint">${said("code.hint", { example: html`<b>${code(example)}</b>` })}</p>
</form>`,
});

const example = "BCDF-2345";

const longestTyped = 20;
