import { AuditLog, OwnedKeys } from "@accountlink/core";
import { readableActions } from "@accountlink/core/accounts";
import { type AuditFilter, auditActions } from "@accountlink/core/audit";
import { isChatId } from "@accountlink/core/ids";
import { Effect } from "effect";
import { type Fields, type OwnerPages, type OwnerVisitor, positionOf } from "../owner_pages.ts";
import { csvResponse } from "../page_response.ts";
import { paths } from "../paths.ts";
import { auditCsv } from "./audit_csv.ts";
import { auditPage } from "./audit_page.ts";
import { makeEntryNames } from "./entry_names.ts";

const pageSize = 50;

/** The most entries in a file, because the file is made in memory. */
const fileSize = 10_000;

export const auditRoutes = Effect.fnUntraced(function* ({ page }: OwnerPages) {
  const keys = yield* OwnedKeys;
  const log = yield* AuditLog;
  const namesOf = yield* makeEntryNames;

  const filterOf = Effect.fnUntraced(function* ({ owner: { account }, role }: OwnerVisitor, query: Fields) {
    const [action, keyId, chatId] = [query("action"), query("keyId"), query("chatId").trim()];
    return {
      action: auditActions.find((known) => known === action) ?? null,
      keyId: keyId === "" ? null : (yield* keys.find(account, keyId)).id,
      chatId: isChatId(chatId) ? chatId : null,
      readable: readableActions(role),
    } satisfies AuditFilter;
  });

  return [
    page(
      paths.audit,
      Effect.fnUntraced(function* (visitor, query) {
        const { account } = visitor.owner;
        const filter = yield* filterOf(visitor, query);
        const chatId = query("chatId").trim();
        const before = positionOf(query("cursor"));
        // Request one more entry than a page has, to learn whether there is a next page.
        const found = yield* log.list(account.name, before, pageSize + 1, filter);
        const entries = found.slice(0, pageSize);
        const next = found.length > pageSize ? String(entries.at(-1)?.sequence) : null;
        const listed = yield* keys.list(account);
        const names = yield* namesOf(visitor, listed, entries);
        const problems =
          chatId === "" || isChatId(chatId)
            ? []
            : [{ name: "chatId", reason: "expected an ID, which has digits only" }];
        return auditPage({ entries, next, keys: listed, names }, { ...filter, chatId }, visitor, problems);
      }),
    ),
    page(
      paths.auditFile,
      Effect.fnUntraced(function* (visitor, query) {
        const filter = yield* filterOf(visitor, query);
        return csvResponse(
          "audit",
          auditCsv(yield* log.list(visitor.owner.account.name, null, fileSize, filter)),
        );
      }),
    ),
  ];
});
