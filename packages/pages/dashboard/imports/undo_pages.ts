/** The list of imports that can be undone, and the page that asks before an undo and shows its progress. */

import type { UndoableImport } from "@accountlink/core/imports";
import { formTo, type Html, html, section, to } from "../../html.ts";
import type { Community } from "../communities/community.ts";
import { buttonsOr } from "../look/field.ts";
import { listText } from "../look/names.ts";
import { statusHtml } from "../look/notice.ts";
import { progressBar } from "../look/progress.ts";
import { linkTo, say, tags } from "../look/say.ts";
import { numberHtml, timeHtml } from "../look/time.ts";
import type { Page } from "../page.ts";
import { importPath, paths, rolesPath, withQuery } from "../paths.ts";

export interface UndoView extends UndoableImport {
  readonly community: Community;
}

/** How many links an undo would remove, restore and leave as they are. */
interface AskedUndo {
  readonly removed: number;
  readonly restored: number;
  readonly kept: number;
  /** Who would lose roles by it, a sentence for each community. */
  readonly lost: ReadonlyArray<Html>;
  /** Whether the imports of the account may change too few links today. */
  readonly waits: boolean;
}

export const askPage = (view: UndoView, { removed, restored, kept, lost, waits }: AskedUndo): Page => {
  const { id, name, community, importedAt, endsAt } = view;
  return {
    title: say("undo.ask"),
    section: "imports",
    content: html`
<p>${say("undo.ask.text", { name, list: listText(community), time: timeHtml(importedAt), end: timeHtml(endsAt) })}</p>
${removed > 0 ? html`<p class="figure">${say("undo.removed", { count: removed, b: tags.b })}</p>` : null}
${lost}
${restored > 0 ? html`<p class="figure">${say("undo.restored", { count: restored, b: tags.b })}</p>` : null}
${kept > 0 ? html`<p>${say("undo.changed", { count: kept })}</p>` : null}
${waits ? html`<p>${say("undo.day")}</p>` : null}
<p>${say("undo.roles", { a: linkTo(rolesPath(community.scope.pid)) })}</p>
${formTo(importPath(id, "undo"))`
${buttonsOr(html`<button class="button bad">${say("undo.button")}</button>`, paths.imports, say("undo.keep"))}`}`,
  };
};

type Undone = NonNullable<UndoableImport["undone"]>;

/** Shows the progress of an undo, and its result at the end. */
export const undoPage = (view: UndoView, undone: Undone, waits: boolean): Page =>
  undone.isDone ? donePage(view, undone) : runningPage(view, undone, waits);

const runningPage = ({ id, name, links }: UndoView, { removed, restored }: Undone, waits: boolean): Page => {
  const done = removed + restored;
  return {
    title: say("undo.running"),
    section: "imports",
    content: html`
<div data-live="2">
<p>${say("undo.progress", { done: numberHtml(done), total: links, name })}</p>
${progressBar(say("import.progress"), { done, total: links })}
</div>
<p>${say(waits ? "undo.day" : "undo.leave")}</p>
<p class="row"><a class="button quiet" href="${to(importPath(id, "undo"))}">${say("import.check")}</a></p>`,
  };
};

const donePage = ({ name, community }: UndoView, { removed, restored }: Undone): Page => ({
  title: say("undo.done"),
  section: "imports",
  notice: statusHtml(say("undo.done.notice")),
  content: html`
<p>${say("undo.result", { name, removed, restored, list: listText(community) })}</p>
<p class="row"><a class="button" href="${to(withQuery(paths.links, { pid: community.scope.pid }))}">${say("import.see_links")}</a>
<a class="button quiet" href="${to(paths.imports)}">${say("import.another")}</a></p>`,
});

/** Says until when an import can be undone, and leads to its undo. */
export const undoLink = ({ id, name, endsAt }: Pick<UndoableImport, "id" | "name" | "endsAt">): Html =>
  say("undo.link", {
    a: linkTo(importPath(id, "undo")),
    unseen: tags.unseen,
    name,
    time: timeHtml(endsAt),
  });

export const undoableSection = (
  imports: ReadonlyArray<UndoableImport>,
  communities: ReadonlyArray<Community>,
): Html | false =>
  imports.length > 0 &&
  section(say("undo.section"))`
<ul class="cards" role="list">${imports.map((one) => {
    const community = communities.find(({ scope }) => scope.pid === one.pid);
    const entry = { b: tags.b, name: one.name, time: timeHtml(one.importedAt), count: one.links };
    return html`
<li>
<p>${
      community === undefined
        ? say("undo.entry", entry)
        : say("undo.entry_of", { ...entry, list: listText(community) })
    }</p>
<p>${
      one.undone === null
        ? undoLink(one)
        : html`<a href="${to(importPath(one.id, "undo"))}">${
            one.undone.isDone
              ? say("undo.undone", { unseen: tags.unseen, name: one.name })
              : say("undo.running")
          }</a>`
    }</p>
</li>`;
  })}</ul>`;
