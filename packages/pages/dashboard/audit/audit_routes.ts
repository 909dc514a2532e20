import { AuditLog, OwnedKeys } from "@accountlink/core";
import { allows, readableActions } from "@accountlink/core/accounts";
import { type AuditEntry, type AuditFilter, auditActions, signedBy } from "@accountlink/core/audit";
import { OwnedLinks, OwnedScopes } from "@accountlink/core/communities";
import { isChatId } from "@accountlink/core/ids";
import { formatTimestamp } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import { html } from "../../html.ts";
import { csvOf, csvResponse } from "../csv_file.ts";
import { menuField, textField } from "../look/field.ts";
import { keyMenu } from "../look/owned_key.ts";
import { type Fields, type OwnerPages, type OwnerVisitor, positionOf } from "../owner_pages.ts";
import type { Page } from "../page.ts";
import { paths, withQuery } from "../paths.ts";
import { makeEntryNames } from "./entry_names.ts";
import { actions, historyHtml } from "./sentences.ts";

const pageSize = 50;

/** The maximum number of communities that are searched for a user name. */
const mostScopes = 10;

/** The most entries in a file. There is a limit because the whole file is made in memory. */
const fileSize = 10_000;

export const auditRoutes = Effect.fnUntraced(function* ({ page }: OwnerPages) {
  const keys = yield* OwnedKeys;
  const log = yield* AuditLog;
  const namesOf = yield* makeEntryNames;
  const scopes = yield* OwnedScopes;
  const links = yield* OwnedLinks;

  /** Returns an ID unchanged. Looks a user name up in the account's communities; null if no user has the name. */
  const userOf = Effect.fnUntraced(function* (account: string, text: string) {
    if (isChatId(text)) return text;
    for (const { scope } of (yield* scopes.list({ name: account })).slice(0, mostScopes)) {
      const [chatId] = yield* links.chatsMeant(scope, text);
      if (chatId !== undefined) return chatId;
    }
    return null;
  });

  const filterOf = Effect.fnUntraced(function* ({ owner: { account }, role }: OwnerVisitor, query: Fields) {
    const [action, keyId, user] = [query("action"), query("keyId"), query("chatId").trim()];
    const filter = {
      action: auditActions.find((known) => known === action) ?? null,
      keyId: keyId === "" ? null : (yield* keys.find(account, keyId)).id,
      chatId: user === "" ? null : yield* userOf(account.name, user),
      readable: readableActions(role),
    } satisfies AuditFilter;
    return { filter, isNobody: user !== "" && filter.chatId === null };
  });

  return [
    page(paths.audit, function* (visitor, query) {
      const { owner, role, platforms } = visitor;
      const { filter, isNobody } = yield* filterOf(visitor, query);
      const before = positionOf(query("cursor"));
      // Read one more entry than the page shows, to learn whether there is a next page.
      const found = isNobody ? [] : yield* log.list(owner.account.name, before, pageSize + 1, filter);
      const entries = found.slice(0, pageSize);
      const next = found.length > pageSize ? String(entries.at(-1)?.sequence) : null;
      const listed = yield* keys.list(owner.account);
      const names = yield* namesOf(visitor, listed, entries);
      const problems = isNobody
        ? [{ name: "chatId", reason: "nobody was found with this ID or user name" }]
        : [];
      const { action, keyId } = filter;
      const typed = { action, keyId, chatId: query("chatId").trim() || null };
      const isAdmin = allows(role, "admin");
      return {
        status: problems.length === 0 ? 200 : 400,
        title: "Audit log",
        section: "audit",
        content: html`
<p>Every change of ${isAdmin ? "keys and links" : "links and reviews"}, newest first. The log contains no secrets and no IP addresses of users.</p>
<form method="get" action="${paths.audit}" class="filters">
${menuField({
  name: "action",
  label: "Action",
  value: action ?? "",
  choices: [
    { value: "", label: "All actions" },
    ...(readableActions(role) ?? auditActions).map((value) => ({ value, label: actions[value] })),
  ],
})}
${isAdmin ? keyMenu(listed, keyId) : null}
${textField({ name: "chatId", label: `About the account on ${platforms.chat}`, hint: "ID or user name", type: "search", value: typed.chatId ?? "", problems })}
<button class="button quiet">Show</button>
</form>
${historyHtml(entries, names, Object.values(typed).every((value) => value === null) ? undefined : "Nothing in the log matches.")}
<p class="more">${
          next === null
            ? null
            : html`<a class="button quiet" href="${withQuery(paths.audit, { ...typed, cursor: next })}">Older entries</a> `
        }<a href="${withQuery(paths.auditFile, typed)}">Download as CSV</a></p>`,
      } satisfies Page;
    }),
    page(paths.auditFile, function* (visitor, query) {
      const { filter, isNobody } = yield* filterOf(visitor, query);
      const entries = isNobody ? [] : yield* log.list(visitor.owner.account.name, null, fileSize, filter);
      return csvResponse("audit", auditCsv(entries));
    }),
  ];
});

const auditCsv = (entries: ReadonlyArray<AuditEntry>): string =>
  csvOf(
    ["at", "action", "actorType", "actorId", "member", "pid", "requestId", "details"],
    entries.map((entry) => [
      formatTimestamp(entry.at),
      entry.action,
      entry.actor.type,
      entry.actor.id,
      signedBy(entry).member,
      entry.pid,
      entry.requestId,
      detailsText(entry),
    ]),
  );

const detailsText = ({ details: named }: AuditEntry): string =>
  Object.entries(named)
    .map(([name, value]) => `${name}: ${value ?? "none"}`)
    .join(", ");
