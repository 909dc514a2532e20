/** What saved rules would change for everybody, before they are turned on. */
import {
  changesIn,
  isLargelyUnknown,
  type PlanPreview,
  type PreviewMember,
  type RoleChangeKind,
  shownOfRole,
  shownPreview,
  templatesOf,
} from "@accountlink/core/roles";
import { type Html, hiddenFields, html, section, to } from "../../html.ts";
import type { ManagedGuild } from "../communities/managed_guild.ts";
import { type Choice, checksField, filtersOf, panelTo, radioField } from "../look/field.ts";
import { type AccountNames, guildText, platforms } from "../look/names.ts";
import { progressBar, progressText } from "../look/progress.ts";
import type { Refused } from "../look/refused.ts";
import { type NamedRoles, roleName } from "../look/remedies.ts";
import { capitalised, say } from "../look/say.ts";
import { type Column, memberColumn, nextPage, tableHtml } from "../look/table.ts";
import { durationHtml, numberHtml } from "../look/time.ts";
import type { Page } from "../page.ts";
import { previewMembersPath, rolesPath, rolesPreviewPath, withQuery } from "../paths.ts";
import { nobodyNamed, previewHtml, type RolePreview, whoField } from "./member_preview.ts";
import type { RuleNames } from "./rule_sentence.ts";

/** What the form of the preview has chosen at first, or had when it was refused. */
export interface PreviewChoice {
  /** Whether members who were never linked keep their roles. */
  readonly unlinked: PlanPreview["settings"]["unlinked"];
  /** The roles to take that the rules name no more. */
  readonly take: ReadonlyArray<string>;
}

export interface PreviewView extends NamedRoles, ManagedGuild {
  readonly preview: PlanPreview;
  readonly hasLinks: boolean;
  /** Whether the stored plan is on, so that its rules are replaced. */
  readonly isOn: boolean;
  /** Whether the stored rules set nicknames, and these rules do not. */
  readonly keepsNicknames: boolean;
  readonly chosen: PreviewChoice;
  readonly names: AccountNames["chats"];
  /** Identifies the stored rules, which nobody may have changed meanwhile. */
  readonly seen: string;
  /** The groups and items of the rules. */
  readonly things: RuleNames["things"];
  /** The member that the owner looks at; null if none was named. */
  readonly member: RolePreview | null;
}

export const previewPage = (view: PreviewView, refused: Refused | null): Page => {
  const { preview, community, guildId, guildName, seen } = view;
  const isRunning = preview.state === "running";
  const rules = withQuery(rolesPath(community.scope.pid), { guildId, draft: preview.id, seen });
  return {
    title: say("preview.title", { community: guildText(guildId, guildName) }),
    section: "communities",
    refused,
    problems: view.member?.found === null ? [nobodyNamed] : [],
    ...(isRunning ? { refreshSeconds: 3 } : {}),
    content: html`
${preview.state === "done" ? unknownHtml(view) : null}
<p>${say("preview.nobody_yet")} <a href="${to(rules)}">${say("roles.history.rules")}</a></p>
${isRunning ? runningHtml(view) : preview.state === "done" ? doneHtml(view) : failedHtml(view)}`,
  };
};

const runningHtml = ({ preview }: PreviewView): Html => html`
<div data-live="2">
<p>${say("preview.running", { progress: progressText(preview) })}</p>
${progressBar(say("roles.compared"), preview)}
${
  preview.unknown > 0 &&
  html`<p>${say("preview.asked_again", { count: preview.unknown, platform: platforms.game })}</p>`
}
</div>
<p>${say("preview.leave")}</p>`;

const failedHtml = (view: PreviewView): Html => html`
<p class="problem">${say("preview.failed", { count: view.preview.done, ...platforms })}</p>
${formOf(view)`<p class="row"><button class="button" name="act" value="again">${say("preview.again")}</button></p>`}`;

const formOf = ({ community, guildId, preview, seen }: PreviewView): typeof html => {
  const values = { guildId, id: preview.id, seen };
  return panelTo(withQuery(rolesPreviewPath(community.scope.pid), values), values);
};

const doneHtml = (view: PreviewView): Html => {
  const { preview, isOn } = view;
  const changed = shownPreview(preview, "remove");
  const isQuiet = changesIn(changed) === 0;
  const choices = unlinkedChoices(view);
  return html`
<p>${isQuiet && !view.hasLinks ? say("preview.nobody_linked") : say(isQuiet ? "preview.compared_quiet" : "preview.compared", { count: preview.done })}</p>
${rolesTable(view, choices !== null)}
${memberHtml(view)}
${namesHtml(view)}
${exceptionsHtml(view)}
${section(say(isOn ? "channels.save" : "preview.turn_on"))`
${formOf(view)`${
  choices &&
  radioField({
    name: "unlinked",
    label: say("preview.unlinked"),
    value: view.chosen.unlinked,
    choices,
  })
}${takeField(view)}
<p>${
  choices || isQuiet
    ? say("preview.begin")
    : say("preview.begin_work", { work: workText(changesIn(changed)) })
} ${say("preview.stop")}</p>
<p class="row">${buttonsHtml(view)}</p>`}`}`;
};

const takeField = (view: PreviewView): Html | false => {
  const { unnamed = [] } = view.preview;
  return (
    unnamed.length > 0 &&
    checksField({
      name: "take",
      label: say("preview.take"),
      hint: say("preview.take.hint"),
      values: view.chosen.take,
      choices: unnamed.map(({ roleId, count }) => ({
        value: roleId,
        label: say("preview.take.role", { role: roleName(view, roleId), count }),
      })),
    })
  );
};

const confirm = (label: Html): Html =>
  html`<button class="button" name="act" value="confirm">${label}</button>`;

const buttonsHtml = ({ preview, isOn }: PreviewView): Html => {
  const again = html`<button class="button quiet" name="act" value="again">${say("preview.again")}</button>`;
  if (!isLargelyUnknown(preview))
    return html`${confirm(say(isOn ? "preview.save_rules" : "preview.turn_on"))}
${again}`;
  const key = isOn ? "preview.save_unknown" : "preview.turn_on_unknown";
  return html`${again}
${confirm(say(key, { count: preview.unknown }))}`;
};

/** Comes first, because every number below lacks the unknown changes. */
const unknownHtml = ({ preview: { unknown, done } }: PreviewView): Html | false =>
  unknown !== 0 &&
  html`<div class="notice warn"><p>${say("preview.unknown", { unknown, done: numberHtml(done), platform: platforms.game })}</p></div>`;

/** How many changes there are, and how long they take at ten a second. */
const workText = (changes: number): Html =>
  changes < 600
    ? say("preview.work_minute", { changes })
    : say("preview.work", { changes, time: durationHtml(changes * 100) });

const rolesTable = (view: PreviewView, isChoice: boolean): Html | null => {
  const lostUnlinked: Column<PlanPreview["roles"][number]> = [
    say("preview.lost_unlinked"),
    ({ roleId, lost }) => membersLink(view, roleId, "took", lost.unlinked),
  ];
  return view.preview.roles.length === 0
    ? null
    : tableHtml({
        id: "changes",
        caption: say("user.roles"),
        columns: [
          [say("rule.role"), ({ roleId }) => roleName(view, roleId)],
          [say("preview.held"), ({ held }) => numberHtml(held)],
          [
            say("preview.gained"),
            ({ roleId, gained }) => membersLink(view, roleId, "gave", gained.linked + gained.unlinked),
          ],
          [say("preview.lost"), ({ roleId, lost }) => membersLink(view, roleId, "took", lost.linked)],
          ...(isChoice ? [lostUnlinked] : []),
          [say("preview.examples"), ({ roleId }) => examplesHtml(view, roleId)],
        ],
        rows: view.preview.roles,
      });
};

const membersLink = (
  { community, guildId, seen }: PreviewView,
  roleId: string,
  change: RoleChangeKind,
  count: number,
): Html => {
  if (count === 0) return numberHtml(count);
  const address = withQuery(previewMembersPath(community.scope.pid), { guildId, roleId, change, seen });
  return html`<a href="${to(address)}">${numberHtml(count)}</a>`;
};

export interface PreviewMembersView extends NamedRoles, ManagedGuild {
  readonly roleId: string;
  readonly change: RoleChangeKind;
  readonly members: ReadonlyArray<PreviewMember>;
  readonly next: string | null;
  /** As of the preview. */
  readonly seen: string;
  readonly names: AccountNames["chats"];
}

export const previewMembersPage = (view: PreviewMembersView): Page => {
  const { community, guildId, roleId, change, members, next, names, seen } = view;
  const { pid } = community.scope;
  const role = roleName(view, roleId);
  return {
    title: say(`preview.members.${change}`, { role }),
    section: "communities",
    content: html`
<p><a href="${to(withQuery(rolesPreviewPath(pid), { guildId, seen }))}">${say("preview.members.back")}</a></p>
${
  members.length === 0
    ? html`<p>${say("preview.members.none")}</p>`
    : tableHtml({
        id: "members",
        caption: say(`preview.members.${change}`, { role }),
        columns: [
          memberColumn(pid, names),
          [say("preview.members.link"), ({ kind }) => say(`preview.members.${kind}`)],
        ],
        rows: members,
      })
}
${nextPage(next && withQuery(previewMembersPath(pid), { guildId, roleId, change, cursor: next, seen }), say("preview.members.more"))}`,
  };
};

const memberHtml = (view: PreviewView): Html => {
  const { member, preview, community, guildId, seen } = view;
  return section(say("roles.try"), "member")`
${filtersOf(`${rolesPreviewPath(community.scope.pid)}#member`, say("roles.try.button"))`
${hiddenFields({ guildId, seen, id: preview.id })}
${whoField(member?.who ?? "")}`}
${member !== null && html`<div role="status">${previewHtml(view, preview.settings.rules, member)}</div>`}`;
};

export const examplesIn = ({ examples: { linked, unlinked } }: PlanPreview) => [...linked, ...unlinked];

/** Names some members who would get or lose a role, or could lose it by the choice for those who never linked. */
const examplesHtml = (view: PreviewView, roleId: string): Html => {
  const { linked, unlinked } = view.preview.examples;
  const named = (
    key: "preview.would_get" | "preview.would_lose" | "preview.could_lose",
    field: "add" | "remove",
    examples: PlanPreview["examples"]["linked"],
  ): Html | null => {
    const members = examples
      .filter((example) => example[field].includes(roleId))
      .slice(0, shownOfRole)
      .map(({ chatId }) => view.names.get(chatId) ?? chatId)
      .join(", ");
    return members === "" ? null : say(key, { members });
  };
  return html`${named("preview.would_get", "add", examplesIn(view.preview))} ${named("preview.would_lose", "remove", linked)} ${named("preview.could_lose", "remove", unlinked)}`;
};

const namesHtml = (view: PreviewView): Html | null => {
  const { preview, names, community } = view;
  const { linked, unlinked } = preview.nicknames;
  if (linked + unlinked === 0 && !view.keepsNicknames) return null;
  return section(say("preview.nicknames"))`
${view.keepsNicknames && html`<p>${say("preview.nicknames_stay")}</p>`}
${
  linked + unlinked > 0 &&
  html`<p>${say("preview.renamed", { count: linked })} ${
    unlinked > 0 && html`${say("preview.unnamed", { count: unlinked })} `
  }${say("preview.kept")}</p>`
}
${
  preview.names.length > 0 &&
  tableHtml({
    id: "names",
    caption: say("preview.names_caption"),
    columns: [
      memberColumn(community.scope.pid, names),
      [say("preview.now"), ({ before }) => before ?? say("preview.no_nickname")],
      [say("preview.then"), ({ after }) => after],
    ],
    rows: preview.names,
  })
}`;
};

const exceptionsHtml = (view: PreviewView): Html | null => {
  const { preview, roles } = view;
  const { settings, bypassed } = preview;
  const refused = preview.roles
    .filter(({ roleId }) => !roles.some(({ id, assignable }) => id === roleId && assignable))
    .filter(({ gained, lost }) => gained.linked + gained.unlinked + lost.linked + lost.unlinked > 0);
  const lines = [
    ...refused.map(({ roleId }) =>
      say("preview.role_above", { role: roleName(view, roleId), platform: platforms.chat }),
    ),
    ...(templatesOf(settings).length === 0
      ? []
      : [capitalised(say("preview.owner", { platform: platforms.chat }))]),
    ...(bypassed === 0 ? [] : [say("preview.bypassed", { count: bypassed })]),
  ];
  if (lines.length === 0) return null;
  return section(say("preview.exceptions"))`<ul>${lines.map((line) => html`<li>${line}</li>`)}</ul>`;
};

/** What may happen to members who were never linked; null if it makes no difference. */
const unlinkedChoices = ({ preview }: PreviewView): ReadonlyArray<Choice> | null => {
  const lost = preview.roles.reduce((sum, role) => sum + role.lost.unlinked, 0);
  if (lost === 0 && preview.settings.unlinked !== "keep") return null;
  const work = (unlinked: "keep" | "remove") => workText(changesIn(shownPreview(preview, unlinked)));
  return [
    {
      value: "keep",
      label: say("preview.keep"),
      hint: say("preview.keep.hint", { work: work("keep") }),
    },
    {
      value: "remove",
      label: say("preview.remove"),
      hint: say("preview.remove.hint", { count: lost, work: work("remove") }),
    },
  ];
};
