/** The list of imports that can be undone, and the page that asks before an undo and shows its progress. */
import type { UndoableImport } from "@accountlink/core/imports";
import { formTo, type Html, html, to } from "../../html.ts";
import type { Community } from "../communities/community.ts";
import { listText } from "../look/names.ts";
import { statusHtml } from "../look/notice.ts";
import { say, tags } from "../look/say.ts";
import { counted, numberText, timeHtml } from "../look/time.ts";
import type { Page } from "../page.ts";
import { importPath, paths, rolesPath, withQuery } from "../paths.ts";

export interface UndoView extends UndoableImport {
  readonly community: Community;
  /** The number of links that the undo still takes back. */
  readonly left: number;
}

export const undoPage = (view: UndoView): Page => {
  if (view.undone === null) return askPage(view);
  return view.left > 0 ? runningPage(view, view.undone) : donePage(view, view.undone);
};

const askPage = (view: UndoView): Page => {
  const { id, name, community, importedAt, endsAt, links, left } = view;
  const changed = links - left;
  return {
    title: "Undo the import?",
    section: "imports",
    content: html`
<p>“${name}” was imported into ${listText(community)} on ${timeHtml(importedAt)}. You can undo it until ${timeHtml(endsAt)}.</p>
<p class="figure"><strong>${counted(left, "link")}</strong> ${left === 1 ? "goes" : "go"} back to how
${left === 1 ? "it was" : "they were"} before: links that the import made are removed, and links that it replaced are
restored.</p>
${
  changed > 0
    ? html`<p>${counted(changed, "other link")} of the import ${changed === 1 ? "was" : "were"} changed since, and
      ${changed === 1 ? "stays" : "stay"}.</p>`
    : null
}
<p>Where <a href="${to(rolesPath(community.scope.pid))}">rules for roles</a> are on, everyone is compared then: members
whose link goes lose the roles that need one. If many would lose one, the rules pause first.</p>
${
  left === 0
    ? html`<p><a class="button quiet" href="${to(paths.imports)}">Back</a></p>`
    : html`
${formTo(importPath(id, "undo"))}
<p class="row"><button class="button bad">Undo the import</button>
<a class="button quiet" href="${to(paths.imports)}">Keep the links</a></p>
</form>`
}`,
  };
};

type Undone = NonNullable<UndoableImport["undone"]>;

const runningPage = ({ id, name, left }: UndoView, { removed, restored }: Undone): Page => {
  const done = removed + restored;
  return {
    title: "Undoing the import",
    section: "imports",
    content: html`
<div data-live="2">
<p>${numberText(done)} of ${counted(done + left, "link")} of “${name}” are as they were before the import.</p>
<progress aria-label="Progress" max="${done + left}" value="${done}"></progress>
</div>
<p>You can leave this page; the undo continues.</p>
<p class="row"><a class="button quiet" href="${to(importPath(id, "undo"))}">Check how far it is</a></p>`,
  };
};

const donePage = ({ name, community }: UndoView, { removed, restored }: Undone): Page => ({
  title: "The import is undone",
  section: "imports",
  notice: statusHtml("The import is undone."),
  content: html`
<p>Of “${name}”, ${counted(removed, "link")} ${removed === 1 ? "was" : "were"} removed from ${listText(community)}, and
${counted(restored, "link")} ${restored === 1 ? "is" : "are"} as before the import.</p>
<p class="row"><a class="button" href="${to(withQuery(paths.links, { pid: community.scope.pid }))}">See the links</a>
<a class="button quiet" href="${to(paths.imports)}">Import another file</a></p>`,
});

/** Says until when an import can be undone, and leads to its undo. */
export const undoLink = ({ id, name, endsAt }: Pick<UndoableImport, "id" | "name" | "endsAt">): Html =>
  say("undo.link", {
    a: (content) => html`<a href="${to(importPath(id, "undo"))}">${content}</a>`,
    unseen: tags.unseen,
    name,
    time: timeHtml(endsAt),
  });

/** The imports that can be undone; null if there are none. */
export const undoableSection = (
  imports: ReadonlyArray<UndoableImport>,
  communities: ReadonlyArray<Community>,
): Html | null =>
  imports.length === 0
    ? null
    : html`
<section>
<h2>Imports of the last day</h2>
<ul class="cards" role="list">${imports.map((one) => {
        const community = communities.find(({ scope }) => scope.pid === one.pid);
        return html`
<li>
<p><strong>${one.name}</strong>${
          community === undefined ? null : html` into ${listText(community)}`
        }, ${timeHtml(one.importedAt)}: ${counted(one.links, "link")}</p>
<p>${
          one.undone === null
            ? undoLink(one)
            : html`<a href="${to(importPath(one.id, "undo"))}">Undone<span class="unseen">: ${one.name}</span></a>`
        }</p>
</li>`;
      })}</ul>
</section>`;
