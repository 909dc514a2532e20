/** Shows possible alts of a user in words, and the reviews of moderators. */
import type { ChatId, Pid } from "@accountlink/core";
import {
  type AltEvidence,
  type AltMatch,
  type AltReport,
  type AltReview,
  maxListedAlts,
  severityOf,
} from "@accountlink/core/alts";
import { visibleName } from "@accountlink/core/name_text";
import { dayMs, type Millis } from "@accountlink/core/timestamp";
import { contactHtml } from "../../footer.ts";
import { formTo, type Html, html, to } from "../../html.ts";
import { type Community, communityField } from "../communities/community.ts";
import { userPath } from "../links/links_page.ts";
import { hiddenFields, radioField, textField } from "../look/field.ts";
import { type PlatformNames } from "../look/names.ts";
import type { Refused } from "../look/refused.ts";
import { tableHtml } from "../look/table.ts";
import { counted, timeHtml } from "../look/time.ts";
import type { OwnerVisitor } from "../owner_pages.ts";
import type { Page, Visitor } from "../page.ts";
import { may, paths, withQuery } from "../paths.ts";

export interface AltsForm {
  /** The ID of the community's scope. An empty ID selects the first community. */
  readonly pid: string;
  readonly kind: "chat" | "game";
  readonly id: string;
}

export const emptyAltsForm: AltsForm = { pid: "", kind: "chat", id: "" };

export interface AltsFound {
  readonly report: AltReport;
  /** Reviews of the searched user, newest first. */
  readonly reviews: ReadonlyArray<AltReview>;
  /** Known names of the searched user, of the users in the reviews, and of the reviewers. */
  readonly names: ReadonlyMap<string, string>;
  /** The chat IDs of the members who wrote the reviews, by the ID of the other reviewed user. */
  readonly reviewers: ReadonlyMap<string, string>;
  readonly pid: Pid;
  /** The visitor's chat ID if the visitor may not review pairs with themself; else null. */
  readonly self: ChatId | null;
}

export interface AltsView {
  /** How to reach the operator, or null. */
  readonly contact: string | null;
  readonly communities: ReadonlyArray<Community>;
  /** Null before the first search. */
  readonly found: AltsFound | null;
  /** Why the search or the review was refused; null if it was not. */
  readonly refused: Refused | null;
}

const labels = { pid: "Community", kind: "Kind of account", id: "User", note: "Note", otherChatId: "Pair" };

export const altsPage = (form: AltsForm, view: AltsView, visitor: OwnerVisitor): Page => ({
  title: "Alts",
  section: "alts",
  refused: view.refused,
  labels,
  content: html`
<p>Finds other accounts that may belong to the same person. A match is a reason to ask, not proof: do not ban anyone for
it alone. <a href="${to(withQuery(paths.newAlts, { pid: form.pid }))}">New and alike</a> lists new links that resemble
others.</p>
${visitor.owner.account.tier === "premium" ? question(form, view, visitor) : premiumNote(view.contact)}
${view.found && answer(form, view.found, visitor)}`,
});

export const premiumNote = (contact: string | null): Html =>
  html`<p class="empty">Alt detection is part of Premium accounts. The operator of this service can make yours
    one${contact && html`: ${contactHtml(contact)}`}.</p>`;

const question = (
  form: AltsForm,
  { communities, refused }: AltsView,
  { platforms: { chat, game }, role, scopes }: Pick<Visitor, "platforms" | "role" | "scopes">,
): Html =>
  communities.length === 0
    ? html`<p class="empty">There are no communities yet. ${may(
        { role, scopes },
        paths.newKey,
        html`<a href="${to(paths.newKey)}">Create a key</a> to begin.`,
      )}</p>`
    : html`
<form method="get" action="${to(paths.alts)}" class="panel">
${communityField(communities, form.pid, refused?.problems)}
${radioField({
  name: "kind",
  label: labels.kind,
  value: form.kind,
  choices: [
    { value: "chat", label: `An account on ${chat}` },
    { value: "game", label: `An account on ${game}` },
  ],
})}
${textField({ name: "id", label: labels.id, hint: "ID or user name.", value: form.id, required: true, problems: refused?.problems ?? [] })}
<button class="button">Look for alts</button>
</form>`;

const answer = (form: AltsForm, found: AltsFound, visitor: OwnerVisitor): Html => {
  const { report, names, pid } = found;
  const { target, matches, risk, places, warnings } = report;
  const isUnknown = places === 0 && matches.length === 0;
  const strongestFirst = matches.toSorted((one, other) => other.weight - one.weight);
  return html`
<section>
<h2>${
    target.chatId === null
      ? `Nobody is linked to this account on ${visitor.platforms.game}`
      : html`${names.has(target.chatId) ? null : "User "}<a href="${to(userPath(pid, target.chatId))}">${named(target.chatId, names)}</a>`
  }</h2>
${
  isUnknown
    ? null
    : html`<p><span class="badge ${tones[risk.severity]}">${severityNames[risk.severity]}</span> Score ${risk.score} of
      100. ${meanings[risk.severity]}</p>`
}
${risk.vpn === 0 ? null : html`<p>${risk.vpn} % of the addresses belong to a VPN, which many people share. That lowers the score.</p>`}
${listedText(report)}
${warnings.map((warning) => html`<p class="warn">${warning}.</p>`)}
${
  strongestFirst.length === 0
    ? html`<p class="empty">${
        isUnknown
          ? "Nothing is known of this user: they have not verified here, or it is too long ago. So nobody can be compared with them."
          : `No other user shares a browser, an address or an account on ${visitor.platforms.game} with this one.`
      }</p>`
    : html`<ul class="cards" role="list">${strongestFirst.map((match) => candidate(form, match, found, visitor))}</ul>`
}
</section>
${target.chatId === null ? null : reviewsSection(form, found, visitor)}`;
};

/** Says which of the compared accounts are listed; null if all of them are. */
const listedText = ({ candidates, matches, risk, target }: AltReport): Html | null =>
  candidates === matches.length
    ? null
    : html`<p>${counted(candidates, "account was", "accounts were")} compared with this one.
      ${target.guildId === null ? "" : "Only members of the community are listed. "}${matches.length < maxListedAlts ? "" : `The ${maxListedAlts} seen most recently are listed, the strongest first. `}${risk.unlistedWeight === 0 ? "" : "The strongest match is not among them."}</p>`;

export const severityNames = { LOW: "Low", MEDIUM: "Medium", HIGH: "High", CRITICAL: "Very high" } as const;

export const tones = { LOW: "good", MEDIUM: "warn", HIGH: "bad", CRITICAL: "bad" } as const;

/** What each severity says about an account; docs/alts.md has the thresholds. */
const meanings = {
  LOW: "Most such accounts have no alt.",
  MEDIUM: "Family members and flatmates look like this more often than alts. Ask before you act.",
  HIGH: "Most such accounts have an alt. Family members who share a computer look the same.",
  CRITICAL: "Nearly all such accounts have an alt.",
} as const;

const candidate = (
  form: AltsForm,
  { chatId, gameId, weight, evidence, resolved }: AltMatch,
  found: AltsFound,
  visitor: OwnerVisitor,
): Html => {
  const now = visitor.context.clock.currentTimeMillisUnsafe();
  const score = Math.round(100 * weight);
  const severity = severityOf(score);
  const name = visibleName(resolved?.chat);
  const game = resolved?.game?.username ?? null;
  const isDecided = evidence.some(({ kind }) => kind === "review");
  return html`<li>
<h3><a href="${to(userPath(found.pid, chatId))}">${name === null ? chatId : withId(name, chatId)}</a>
<span class="badge ${tones[severity]}">${isDecided ? verdicts.same : `${score} of 100`}</span></h3>
<p>Account on ${visitor.platforms.game}: ${gameId === null ? "none" : game === null ? gameId : `${game} (${gameId})`}</p>
<ul>${evidence.map((each) => html`<li>${reason(each, visitor.platforms, now)}</li>`)}</ul>
${decision(form, chatId, isDecided, found)}
</li>`;
};

/** The form with which a moderator decides on a candidate, or takes the decision back. */
const decision = (
  form: AltsForm,
  otherChatId: string,
  isDecided: boolean,
  { report: { target }, pid, reviewers, names, self }: AltsFound,
): Html | null => {
  if (target.chatId === null) return null;
  const pair = { pid, chatId: target.chatId, otherChatId };
  if (isOf(pair, self))
    return html`<p class="hint">You are one of the two, so someone else of your team decides.</p>`;
  if (!isDecided) return reviewForm(form, pair);
  const reviewer = reviewers.get(otherChatId);
  return html`<p>${reviewer === undefined ? "A moderator" : (names.get(reviewer) ?? reviewer)} decided this.</p>${takeBack(form, pair)}`;
};

const named = (id: string, names: AltsFound["names"]): Html | string => {
  const name = names.get(id);
  return name === undefined ? id : withId(name, id);
};

const withId = (name: string, id: string): Html => html`${name} <small>${id}</small>`;

/** Puts evidence into words: "Same browser, 3 days ago". */
export const reason = (evidence: AltEvidence, { game }: PlatformNames, now: Millis): string => {
  switch (evidence.kind) {
    case "review":
      return "A moderator called both the same person";
    case "game":
      return `Same account on ${game} (${evidence.gameId})`;
    case "device": {
      const others = evidence.chatUsers > 2 ? `, which ${evidence.chatUsers} people use` : "";
      return `Same browser${others}, ${ago(evidence.lastSeenAt, now)}`;
    }
    case "address":
      return `An address shared by ${counted(evidence.chatUsers, "person", "people")}, ${ago(evidence.lastSeenAt, now)}`;
  }
};

const ago = (time: Millis, now: Millis): string => {
  const days = Math.max(0, Math.floor((now - time) / dayMs));
  if (days === 0) return "today";
  return days === 1 ? "yesterday" : `${days} days ago`;
};

interface Pair {
  readonly pid: Pid;
  readonly chatId: string;
  readonly otherChatId: string;
}

export const isOf = ({ chatId, otherChatId }: Omit<Pair, "pid">, self: string | null): boolean =>
  self === chatId || self === otherChatId;

/** The hidden fields of a review form: the two users, and the search to show again afterwards. */
const pairFields = (form: AltsForm, pair: Pair): Html =>
  hiddenFields({ ...pair, kind: form.kind, id: form.id });

const reviewForm = (form: AltsForm, pair: Pair): Html => {
  const field = `note-${pair.otherChatId}`;
  return html`${formTo(paths.altReviews, html` class="review"`)}
${pairFields(form, pair)}
<label for="${field}">${labels.note}</label>
<input type="text" id="${field}" name="note" maxlength="500" autocomplete="off">
<p><button class="button small" name="verdict" value="same">Same person</button>
<button class="button quiet small" name="verdict" value="different">Different people</button></p>
</form>`;
};

const verdicts = { same: "Same person", different: "Different people" } as const;

const takeBack = (form: AltsForm, pair: Pair): Html => html`
${formTo(paths.altReviews)}
${pairFields(form, pair)}
<button class="button quiet small" name="verdict" value="" aria-label="Take back the review of ${pair.otherChatId}">Take back</button>
</form>`;

const reviewsSection = (
  form: AltsForm,
  { report, reviews, names, reviewers, pid, self }: AltsFound,
  { context, platforms }: OwnerVisitor,
): Html => {
  const now = context.clock.currentTimeMillisUnsafe();
  const ruledOut = new Map(report.ruledOut.map(({ chatId, evidence }) => [chatId, evidence]));
  /** Keeps the evidence readable of a pair that no longer counts as a match. */
  const evidenceOf = (otherChatId: ChatId) =>
    ruledOut.get(otherChatId)?.map((each) => html`<br><small>${reason(each, platforms, now)}</small>`) ??
    null;
  return html`<section>
<h2>Reviews</h2>
${
  reviews.length === 0
    ? html`<p>There are no reviews of this user yet.</p>`
    : tableHtml({
        id: "reviews",
        caption: "Reviews of this user and others, newest first",
        columns: ["Other user", "Verdict", "Note", "When", "By", "Change"],
        rows: reviews.map(({ chatId, otherChatId, verdict, note, at, keyId }) => {
          const reviewer = reviewers.get(otherChatId);
          return [
            html`<a href="${to(userPath(pid, otherChatId))}">${named(otherChatId, names)}</a>`,
            html`${verdicts[verdict]}${evidenceOf(otherChatId)}`,
            note ?? "–",
            timeHtml(at),
            keyId !== null
              ? `key ${keyId}`
              : reviewer === undefined
                ? "the dashboard"
                : named(reviewer, names),
            isOf({ chatId, otherChatId }, self) ? "–" : takeBack(form, { pid, chatId, otherChatId }),
          ];
        }),
      })
}
</section>`;
};
