/** What saved rules would change for everybody, before they are turned on. */
import type { GuildId } from "@accountlink/core";
import type { GuildRole } from "@accountlink/core/platforms";
import {
  changesIn,
  isLargelyUnknown,
  type PlanPreview,
  shownOfRole,
  shownPreview,
  templatesOf,
} from "@accountlink/core/roles";
import { formTo, type Html, html, to } from "../../html.ts";
import type { Community } from "../communities/community.ts";
import { type Choice, radioField } from "../look/field.ts";
import { type AccountNames, guildText, type PlatformNames } from "../look/names.ts";
import type { Refused } from "../look/refused.ts";
import { roleName } from "../look/remedies.ts";
import { tableHtml } from "../look/table.ts";
import { counted, durationText, numberText } from "../look/time.ts";
import type { Page } from "../page.ts";
import { rolesPath, rolesPreviewPath, userPath, withQuery } from "../paths.ts";

export interface PreviewView {
  readonly community: Community;
  readonly guildId: GuildId;
  readonly guildName: string | null;
  readonly preview: PlanPreview;
  /** Whether the stored plan is on, so that its rules are replaced. */
  readonly isOn: boolean;
  /** Whether members who were never linked keep their roles unless the owner chooses otherwise. */
  readonly unlinked: PlanPreview["settings"]["unlinked"];
  /** Highest first. */
  readonly roles: ReadonlyArray<GuildRole>;
  readonly names: AccountNames["chats"];
  /** Identifies the stored rules, which nobody may have changed meanwhile. */
  readonly seen: string;
  readonly platforms: PlatformNames;
}

/** @param refused why the rules could not be turned on; null if they were not refused */
export const previewPage = (view: PreviewView, refused: Refused | null): Page => {
  const { preview, community, guildId, guildName } = view;
  const isRunning = preview.state === "running";
  return {
    title: `What changes in ${guildText(guildId, guildName)}`,
    section: "communities",
    refused,
    ...(isRunning ? { refreshSeconds: 3 } : {}),
    content: html`
${preview.state === "done" ? unknownHtml(view) : null}
<p>Nobody has been changed yet. <a href="${to(withQuery(rolesPath(community.scope.pid), { guildId, draft: "1" }))}">Back
to the rules</a></p>
${isRunning ? runningHtml(view) : preview.state === "done" ? doneHtml(view) : failedHtml(view)}`,
  };
};

const runningHtml = ({ preview: { done, total, unknown }, platforms }: PreviewView): Html => html`
<div data-live="2">
<p>Comparing everyone with the rules: ${numberText(done)}${total === 0 ? null : ` of ${counted(total, "member")}`}.</p>
<progress aria-label="Compared members"${total === 0 ? null : html` max="${total}" value="${Math.min(done, total)}"`}></progress>
${
  unknown === 0
    ? null
    : html`<p>For ${numberText(unknown)} of them, ${platforms.game} has not answered yet. It is asked again.</p>`
}
</div>
<p>You can leave this page: the comparison continues, and its result is kept for a day.</p>`;

const failedHtml = (view: PreviewView): Html => html`
<p class="problem">The comparison stopped after ${counted(view.preview.done, "member")}: ${view.platforms.chat} or
${view.platforms.game} did not answer, or the server was stopped. Nothing was changed.</p>
${formOf(view, html`<p class="row"><button class="button" name="act" value="again">Compare again</button></p>`)}`;

const formOf = ({ community, guildId, preview, seen }: PreviewView, content: Html): Html => html`
${formTo(rolesPreviewPath(community.scope.pid), html` class="panel"`)}
<input type="hidden" name="guildId" value="${guildId}">
<input type="hidden" name="id" value="${preview.id}">
<input type="hidden" name="seen" value="${seen}">
${content}
</form>`;

const doneHtml = (view: PreviewView): Html => {
  const { preview, isOn, platforms } = view;
  const changed = shownPreview(preview, "remove");
  const isQuiet = changesIn(changed) === 0;
  const choices = unlinkedChoices(view);
  return html`
<p>${counted(preview.done, "member")} were compared. ${
    isQuiet ? "Nobody would change: everyone has the right roles and names." : "This is what would change:"
  }</p>
${rolesTable(view, choices !== null)}
${namesHtml(view)}
${exceptionsHtml(view)}
<section>
<h2>${isOn ? "Save" : "Turn on"}</h2>
${formOf(
  view,
  html`${
    choices &&
    radioField({
      name: "unlinked",
      label: "Members who never linked",
      value: view.unlinked,
      choices,
    })
  }
<p>Changes begin at once, at most ten a second${
    choices || isQuiet ? null : `: ${workText(changesIn(changed))}`
  }. To stop them, pause the rules: nobody changes any more. Roles that were taken come back when the member links, or when
you give them on ${platforms.chat}; nicknames that the rules set go when a link goes.</p>
<p class="row">${buttonsHtml(view)}</p>`,
)}
</section>`;
};

const confirm = (label: string): Html =>
  html`<button class="button" name="act" value="confirm">${label}</button>`;

const buttonsHtml = ({ preview, isOn }: PreviewView): Html => {
  const again = html`<button class="button quiet" name="act" value="again">Compare again</button>`;
  if (!isLargelyUnknown(preview))
    return html`${confirm(isOn ? "Save these rules" : "Turn on")}
${again}`;
  const unknown = counted(preview.unknown, "member");
  return html`${again}
${confirm(`${isOn ? "Save" : "Turn on"} without knowing ${unknown}`)}`;
};

/** Comes first, because every number below lacks the unknown changes. */
const unknownHtml = ({ preview: { unknown, done }, platforms }: PreviewView): Html | null =>
  unknown === 0
    ? null
    : html`<div class="notice warn"><p>For ${numberText(unknown)} of ${counted(done, "member")}, ${platforms.game} did not
answer. What depends on its answer is not counted below, and changes only once it answers.</p></div>`;

/** How many changes there are, and how long they take at ten a second. */
const workText = (changes: number): string =>
  `${counted(changes, "change")}, ${changes < 600 ? "less than a minute" : `at least ${durationText(changes * 100)}`}`;

const rolesTable = (view: PreviewView, isChoice: boolean): Html | null =>
  view.preview.roles.length === 0
    ? null
    : tableHtml({
        id: "changes",
        caption: "Roles",
        columns: [
          "Role",
          "Have it now",
          "Would get it",
          "Would lose it",
          ...(isChoice ? ["Never linked: could lose it"] : []),
          "For example",
        ],
        rows: view.preview.roles.map(({ roleId, held, gained, lost }) => [
          roleName(view, roleId),
          numberText(held),
          numberText(gained.linked + gained.unlinked),
          numberText(lost.linked),
          ...(isChoice ? [numberText(lost.unlinked)] : []),
          examplesHtml(view, roleId),
        ]),
      });

/** The first changed members of a preview. */
export const examplesIn = ({ examples: { linked, unlinked } }: PlanPreview) => [...linked, ...unlinked];

/** Names some members who would get or lose a role. */
const examplesHtml = (view: PreviewView, roleId: string): Html => {
  const named = (field: "add" | "remove") =>
    examplesIn(view.preview)
      .filter((example) => example[field].includes(roleId))
      .slice(0, shownOfRole)
      .map(({ chatId }) => view.names.get(chatId) ?? chatId)
      .join(", ");
  const [gain, lose] = [named("add"), named("remove")];
  return html`${gain === "" ? null : `Would get it: ${gain}.`} ${lose === "" ? null : `Would lose it: ${lose}.`}`;
};

const namesHtml = (view: PreviewView): Html | null => {
  const { preview, names, community } = view;
  const { linked, unlinked } = preview.nicknames;
  if (linked + unlinked === 0) return null;
  return html`
<section>
<h2>Nicknames</h2>
<p>${counted(linked, "linked member")} would get another nickname${
    unlinked === 0 ? null : `, ${counted(unlinked, "member")} without a link would lose theirs`
  }. The nicknames that they have now are kept for 30 days, as a file to download on the page of the rules, and
can be put back there.</p>
${
  preview.names.length === 0
    ? null
    : tableHtml({
        id: "names",
        caption: "How nicknames read",
        columns: ["Member", "Now", "Then"],
        rows: preview.names.map(({ chatId, before, after }) => [
          html`<a href="${to(userPath(community.scope.pid, chatId))}">${names.get(chatId) ?? chatId}</a>`,
          before ?? "None",
          after,
        ]),
      })
}
</section>`;
};

/** Says who cannot be changed, and why. */
const exceptionsHtml = (view: PreviewView): Html | null => {
  const { preview, roles, platforms } = view;
  const { settings, bypassed } = preview;
  const refused = preview.roles
    .filter(({ roleId }) => !roles.some(({ id, assignable }) => id === roleId && assignable))
    .filter(({ gained, lost }) => gained.linked + gained.unlinked + lost.linked + lost.unlinked > 0);
  const lines = [
    ...refused.map(
      ({ roleId }) =>
        html`Nobody’s role ${roleName(view, roleId)} changes until the bot may give it: move the bot's role above it on ${platforms.chat}.`,
    ),
    ...(templatesOf(settings).length === 0
      ? []
      : [
          html`The owner of the community, and who stands above the bot, keep their nickname: ${platforms.chat} lets no bot change it.`,
        ]),
    ...(bypassed === 0
      ? []
      : [html`${counted(bypassed, "member")} with a role to leave alone keep what they have.`]),
  ];
  if (lines.length === 0) return null;
  return html`<section><h2>Who is not changed</h2><ul>${lines.map((line) => html`<li>${line}</li>`)}</ul></section>`;
};

/** What may happen to members who were never linked; null if it makes no difference. */
const unlinkedChoices = ({ preview }: PreviewView): ReadonlyArray<Choice> | null => {
  const lost = preview.roles.reduce((sum, role) => sum + role.lost.unlinked, 0);
  if (lost === 0 && preview.settings.unlinked !== "keep") return null;
  const work = (unlinked: "keep" | "remove") => workText(changesIn(shownPreview(preview, unlinked)));
  return [
    {
      value: "keep",
      label: "Leave them as they are",
      hint: `They keep the roles that they have, also later. ${work("keep")}.`,
    },
    {
      value: "remove",
      label: "Take the roles",
      hint: `${counted(lost, "role")} would be taken as well. ${work("remove")}.`,
    },
  ];
};
