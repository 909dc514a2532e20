/** Shows possible alts of a user in words, and the reviews of moderators. */
import type { ChatId, Pid } from "@accountlink/core";
import {
  type AltEvidence,
  type AltMatch,
  type AltReport,
  type AltReview,
  type AltWarning,
  maxListedAlts,
  severityOf,
} from "@accountlink/core/alts";
import { visibleName } from "@accountlink/core/name_text";
import type { Millis } from "@accountlink/core/timestamp";
import { contactHtml } from "../../footer.ts";
import { formTo, type Html, html, section, to } from "../../html.ts";
import { type Community, communityField } from "../communities/community.ts";
import { radioField, textField } from "../look/field.ts";
import { communityName, idOrName, platforms } from "../look/names.ts";
import type { Refused } from "../look/refused.ts";
import { capitalised, linkTo, plain, say } from "../look/say.ts";
import { tableHtml } from "../look/table.ts";
import { dayAgoHtml, numberHtml, timeHtml } from "../look/time.ts";
import type { OwnerVisitor } from "../owner_pages.ts";
import type { Page } from "../page.ts";
import { may, paths, userPath, withQuery } from "../paths.ts";

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
  readonly contact: string | null;
  readonly communities: ReadonlyArray<Community>;
  readonly found?: AltsFound;
  readonly refused?: Refused;
}

const labels = {
  pid: say("alts.community"),
  kind: say("alts.kind"),
  id: say("blocks.user"),
  note: say("alts.note"),
  otherChatId: say("alts.pair"),
};

export const altsPage = (form: AltsForm, view: AltsView, visitor: OwnerVisitor): Page => ({
  title: say("menu.alts"),
  within: view.communities.length > 1 && nameOfList(view),
  section: "alts",
  refused: view.refused ?? null,
  labels,
  content: html`
<p>${say("alts.intro", { a: linkTo(withQuery(paths.newAlts, { pid: form.pid })) })}</p>
${visitor.owner.account.tier === "premium" ? question(form, view) : premiumNote(view.contact)}
${view.found !== undefined && answer(form, view.found, visitor)}`,
});

const nameOfList = ({ communities, found }: AltsView): string | Html | false => {
  const searched = communities.find(({ scope }) => scope.pid === found?.pid);
  return searched !== undefined && communityName(searched);
};

export const premiumNote = (contact: string | null): Html =>
  html`<p class="empty">${
    contact === null ? say("alts.premium") : say("alts.premium_contact", { contact: contactHtml(contact) })
  }</p>`;

const question = (form: AltsForm, { communities }: AltsView): Html =>
  communities.length === 0
    ? html`<p class="empty">${say("alts.none")} ${may(paths.newKey, say("alts.none.begin", { a: linkTo(paths.newKey) }))}</p>`
    : html`
<form method="get" action="${to(paths.alts)}" class="panel">
${communityField(communities, form.pid)}
${radioField({
  name: "kind",
  label: labels.kind,
  value: form.kind,
  choices: [
    { value: "chat", label: say("alts.account_on", { platform: platforms.chat }) },
    { value: "game", label: say("alts.account_on", { platform: platforms.game }) },
  ],
})}
${textField({ name: "id", label: labels.id, hint: idOrName(null), value: form.id, required: true })}
<button class="button">${say("alts.look")}</button>
</form>`;

const warningHtml = (warning: AltWarning): Html =>
  warning.is === "unknown_members"
    ? capitalised(say("alts.warning.unknown_members", { platform: platforms.chat, count: warning.count }))
    : say(`alts.warning.${warning.is}`);

const answer = (form: AltsForm, found: AltsFound, visitor: OwnerVisitor): Html => {
  const { report, names, pid } = found;
  const { target, matches, risk, places, warnings } = report;
  const isUnknown = places === 0 && matches.length === 0;
  const strongestFirst = matches.toSorted((one, other) => other.weight - one.weight);
  const title =
    target.chatId === null
      ? say("alts.unlinked", { platform: platforms.game })
      : html`<a href="${to(userPath(pid, target.chatId))}">${
          names.has(target.chatId) ? named(target.chatId, names) : say("alts.user", { id: target.chatId })
        }</a>`;
  return html`
${section(title)`
${
  !isUnknown &&
  html`<p><span class="badge ${tones[risk.severity]}">${say(`alts.severity.${risk.severity}`)}</span> ${say("alts.score", { score: numberHtml(risk.score) })}
      ${say(`alts.meaning.${risk.severity}`)}</p>`
}
${risk.vpn > 0 && html`<p>${say("alts.vpn", { percent: numberHtml(risk.vpn) })}</p>`}
${listedText(report)}
${warnings.map((warning) => html`<p class="warn">${warningHtml(warning)}</p>`)}
${
  strongestFirst.length === 0
    ? html`<p class="empty">${
        isUnknown ? say("alts.unknown") : say("alts.nobody", { platform: platforms.game })
      }</p>`
    : html`<ul class="cards" role="list">${strongestFirst.map((match) => candidate(form, match, found, visitor))}</ul>`
}`}
${target.chatId !== null && reviewsSection(form, found, visitor)}`;
};

/** Says which of the compared accounts are listed; null if all of them are. */
const listedText = ({ candidates, matches, risk, target }: AltReport): Html | false =>
  candidates !== matches.length &&
  html`<p>${say("alts.compared", { count: candidates })}
      ${target.guildId !== null && html`${say("alts.members_only")} `}${matches.length >= maxListedAlts && html`${say("alts.most", { most: numberHtml(maxListedAlts) })} `}${risk.unlistedWeight !== 0 && say("alts.unlisted")}</p>`;

export const tones = { LOW: "good", MEDIUM: "warn", HIGH: "bad", CRITICAL: "bad" } as const;

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
<span class="badge ${tones[severity]}">${isDecided ? say("alts.same") : say("alts.of_100", { score: numberHtml(score) })}</span></h3>
<p>${say("alts.game_account", {
    platform: platforms.game,
    account: gameId === null ? say("alts.no_account") : game === null ? gameId : `${game} (${gameId})`,
  })}</p>
<ul>${evidence.map((each) => html`<li>${reason(each, now)}</li>`)}</ul>
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
  if (isOf(pair, self)) return html`<p class="hint">${say("alts.own")}</p>`;
  if (!isDecided) return reviewForm(form, pair);
  const reviewer = reviewers.get(otherChatId);
  return html`<p>${reviewer === undefined ? say("alts.decided") : say("alts.decided_by", { name: names.get(reviewer) ?? reviewer })}</p>${takeBack(form, pair)}`;
};

const named = (id: string, names: AltsFound["names"]): Html | string => {
  const name = names.get(id);
  return name === undefined ? id : withId(name, id);
};

const withId = (name: string, id: string): Html => html`${name} <small>${id}</small>`;

/** Puts evidence into words: "Same browser, 3 days ago". */
export const reason = (evidence: AltEvidence, now: Millis): Html => {
  switch (evidence.kind) {
    case "review":
      return say("alts.evidence.review");
    case "game":
      return say("alts.evidence.game", { platform: platforms.game, id: evidence.gameId });
    case "device": {
      const when = dayAgoHtml(evidence.lastSeenAt, now);
      return evidence.chatUsers > 2
        ? say("alts.evidence.shared_device", { count: evidence.chatUsers, when })
        : say("alts.evidence.device", { when });
    }
    case "address":
      return say("alts.evidence.address", {
        count: evidence.chatUsers,
        when: dayAgoHtml(evidence.lastSeenAt, now),
      });
  }
};

interface Pair {
  readonly pid: Pid;
  readonly chatId: string;
  readonly otherChatId: string;
}

export const isOf = ({ chatId, otherChatId }: Omit<Pair, "pid">, self: string | null): boolean =>
  self === chatId || self === otherChatId;

/** The hidden fields of a review form: the two users, and the search to show again afterwards. */
const pairFields = (form: AltsForm, pair: Pair) => ({ ...pair, kind: form.kind, id: form.id });

const reviewForm = (form: AltsForm, pair: Pair): Html => {
  const field = `note-${pair.otherChatId}`;
  return verdictForm(
    pairFields(form, pair),
    // Enter presses the first button of a form: not the one that decides.
    html`<button class="unseen" disabled aria-hidden="true"></button>
<label for="${field}">${labels.note}</label>
<input type="text" id="${field}" name="note" maxlength="500" autocomplete="off">`,
  );
};

/** @param note the field of a note */
export const verdictForm = (
  values: Readonly<Record<string, string>>,
  note: Html | null = null,
): Html => formTo(paths.altReviews, values, html` class="review"`)`
${note}
<p><button class="button small" name="verdict" value="same">${say("alts.same")}</button>
<button class="button quiet small" name="verdict" value="different">${say("alts.different")}</button></p>`;

const takeBack = (form: AltsForm, pair: Pair): Html => formTo(paths.altReviews, pairFields(form, pair))`
<button class="button quiet small" name="verdict" value="" aria-label="${plain(say("alts.take_back_of", { id: pair.otherChatId }))}">${say("alts.take_back")}</button>`;

const reviewsSection = (
  form: AltsForm,
  { report, reviews, names, reviewers, pid, self }: AltsFound,
  { context }: OwnerVisitor,
): Html => {
  const now = context.clock.currentTimeMillisUnsafe();
  const ruledOut = new Map(report.ruledOut.map(({ chatId, evidence }) => [chatId, evidence]));
  /** Keeps the evidence readable of a pair that no longer counts as a match. */
  const evidenceOf = (otherChatId: ChatId) =>
    ruledOut.get(otherChatId)?.map((each) => html`<br><small>${reason(each, now)}</small>`) ?? null;
  const byHtml = ({ otherChatId, keyId }: AltReview) => {
    if (keyId !== null) return say("alts.key", { id: keyId });
    const reviewer = reviewers.get(otherChatId);
    return reviewer === undefined ? say("alts.dashboard") : named(reviewer, names);
  };
  return section(say("alts.reviews"))`
${
  reviews.length === 0
    ? html`<p>${say("alts.reviews.none")}</p>`
    : tableHtml({
        id: "reviews",
        caption: say("alts.reviews.caption"),
        columns: [
          [
            say("alts.other_user"),
            ({ otherChatId: id }) => html`<a href="${to(userPath(pid, id))}">${named(id, names)}</a>`,
          ],
          [
            say("alts.verdict"),
            ({ verdict, otherChatId }) => html`${say(`alts.${verdict}`)}${evidenceOf(otherChatId)}`,
          ],
          [say("alts.note"), ({ note }) => note ?? "–"],
          [say("roles.history.at"), ({ at }) => timeHtml(at)],
          [say("blocks.by"), byHtml],
          [
            say("alts.change"),
            ({ chatId, otherChatId }) =>
              isOf({ chatId, otherChatId }, self) ? "–" : takeBack(form, { pid, chatId, otherChatId }),
          ],
        ],
        rows: reviews,
      })
}`;
};
