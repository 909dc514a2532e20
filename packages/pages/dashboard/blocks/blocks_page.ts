import type { BlockPlace, StoredBlock } from "@accountlink/core/admission";
import { formTo, Html, html, type Problem, section, to } from "../../html.ts";
import { type Community, communityField } from "../communities/community.ts";
import type { Fields } from "../form_fields.ts";
import { unblockForm } from "../links/unblock_form.ts";
import { fileField, filtersOf, menuField, textField } from "../look/field.ts";
import { type AccountNames, communityName, idOrName, listText, nameIn, platforms } from "../look/names.ts";
import { statusHtml } from "../look/notice.ts";
import { refusedFor } from "../look/refused.ts";
import { say, tags } from "../look/say.ts";
import { nextPage, tableHtml } from "../look/table.ts";
import { timeHtml } from "../look/time.ts";
import type { Page } from "../page.ts";
import { paths, userPath, withQuery } from "../paths.ts";
import { blockListForm } from "./block_list.ts";
import { blockCursorOf } from "./block_operations.ts";

/** What an import has done, as the address of the page says; null without one. */
export const importedIn = (fields: Fields) => {
  const [imported = 0, kept = 0, wrong = 0, left = 0] = ["imported", "kept", "wrong", "left"].map((name) =>
    Number(/^\d{1,6}$/.exec(fields(name))?.[0] ?? 0),
  );
  return fields("imported") === "" ? null : { imported, kept, wrong, left };
};

const kinds = (name: string, value: string): Html =>
  menuField({
    name,
    label: say("blocks.platform"),
    value,
    choices: [
      { value: "chat", label: platforms.chat },
      { value: "game", label: platforms.game },
    ],
  });

interface BlocksView {
  readonly imported: ReturnType<typeof importedIn>;
  readonly all: ReadonlyArray<Community>;
  readonly community: Community;
  readonly blocks: ReadonlyArray<StoredBlock>;
  readonly next: BlockPlace | null;
  readonly names: AccountNames;
}

export const blocksPage = (
  { all, community, blocks, next, names, imported }: BlocksView,
  typed: Fields,
  problems: ReadonlyArray<Problem>,
): Page => {
  const { pid } = community.scope;
  const { small } = tags;
  const whoOf = ({ chatId, gameId }: StoredBlock): Html => {
    if (gameId !== null)
      return say("blocks.on", { small, name: nameIn(names.games, gameId), platform: platforms.game });
    if (chatId === null) return say("blocks.erased");
    const name = html`<a href="${to(userPath(pid, chatId))}">${nameIn(names.chats, chatId)}</a>`;
    return say("blocks.on", { small, name, platform: platforms.chat });
  };
  return {
    title: say("links.blocked"),
    within: all.length > 1 && communityName(community),
    section: "links",
    refused: refusedFor(problems),
    labels: { id: say("blocks.user"), csv: say("blocks.file"), users: say("blocks.list.users") },
    ...(imported && {
      notice: statusHtml(
        html`${say("blocks.imported", imported)}${
          imported.left > 0 && html` ${say("blocks.imported_left", { count: imported.left })}`
        }`,
      ),
    }),
    content: html`
<p>${say("blocks.intro", { list: listText(community) })}</p>
${filtersOf(paths.block, say("blocks.block"))`
${communityField(all, pid)}
${kinds("kind", typed("kind"))}
${textField({ name: "id", label: say("blocks.user"), hint: idOrName(null), value: typed("id"), required: true })}`}
${tableHtml({
  id: "blocks",
  caption: say("blocks.caption", { list: listText(community) }),
  columns: [
    [say("blocks.user"), whoOf],
    [say("link.reason"), ({ reason }) => reason ?? "–"],
    [say("blocks.since"), ({ at }) => timeHtml(at)],
    [say("blocks.by"), ({ member }) => (member === null ? "–" : nameIn(names.chats, member))],
    [say("links.actions"), (block) => unblockForm(pid, block, null), "unseen"],
  ],
  rows: blocks,
  empty: say("blocks.nobody"),
})}
${nextPage(next && withQuery(paths.blocks, { pid, cursor: blockCursorOf(next) }), say("blocks.older"))}
${blockListForm(community, kinds("listKind", typed("listKind")), typed("users"))}
${section(say("blocks.files"), "file")`
${blocks.length > 0 && html`<p><a href="${to(withQuery(paths.blocksFile, { pid }))}">${say("blocks.download")}</a></p>`}
${formTo(paths.blocksImport, { pid }, html` enctype="multipart/form-data" class="panel"`)`
${fileField({ name: "csv", label: say("blocks.file"), hint: say("blocks.file.hint") })}
<button class="button quiet">${say("blocks.import")}</button>`}`}`,
  };
};
