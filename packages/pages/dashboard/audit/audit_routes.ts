import { AuditLog, OwnedKeys } from "@accountlink/core";
import { readableActions } from "@accountlink/core/accounts";
import { type AuditFilter, auditActions } from "@accountlink/core/audit";
import { OwnedLinks, OwnedScopes } from "@accountlink/core/communities";
import { isChatId } from "@accountlink/core/ids";
import { Effect } from "effect";
import { type Fields, type OwnerPages, type OwnerVisitor, positionOf } from "../owner_pages.ts";
import { csvResponse } from "../page_response.ts";
import { paths } from "../paths.ts";
import { auditCsv } from "./audit_csv.ts";
import { auditPage } from "./audit_page.ts";
import { makeEntryNames } from "./entry_names.ts";

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
    page(
      paths.audit,
      Effect.fnUntraced(function* (visitor, query) {
        const { account } = visitor.owner;
        const { filter, isNobody } = yield* filterOf(visitor, query);
        const before = positionOf(query("cursor"));
        // Read one more entry than the page shows, to learn whether there is a next page.
        const found = isNobody ? [] : yield* log.list(account.name, before, pageSize + 1, filter);
        const entries = found.slice(0, pageSize);
        const next = found.length > pageSize ? String(entries.at(-1)?.sequence) : null;
        const listed = yield* keys.list(account);
        const names = yield* namesOf(visitor, listed, entries);
        const problems = isNobody
          ? [{ name: "chatId", reason: "nobody was found with this ID or user name" }]
          : [];
        const typed = { ...filter, chatId: query("chatId").trim() };
        return auditPage({ entries, next, keys: listed, names }, typed, visitor, problems);
      }),
    ),
    page(
      paths.auditFile,
      Effect.fnUntraced(function* (visitor, query) {
        const { filter, isNobody } = yield* filterOf(visitor, query);
        const entries = isNobody ? [] : yield* log.list(visitor.owner.account.name, null, fileSize, filter);
        return csvResponse("audit", auditCsv(entries));
      }),
    ),
  ];
});
