import { ChatId, OwnedKeys } from "@accountlink/core";
import { allows, Members, permits, type Reader, readableActions } from "@accountlink/core/accounts";
import {
  type AuditEntry,
  type AuditFilter,
  type AuditPage,
  auditActions,
  keyOf,
  mostSearched,
  signedBy,
} from "@accountlink/core/audit";
import { isChatId } from "@accountlink/core/ids";
import { type Account, type KeyDetails, type KeyOwner, shownName } from "@accountlink/core/keys";
import { makeOwnedAudit, OwnedLinks, OwnedScopes } from "@accountlink/core/owners";
import { dayMs, formatTimestamp } from "@accountlink/core/timestamp";
import { DashboardActivity } from "@accountlink/http-api";
import { Effect } from "effect";
import { type Html, html, to } from "../../html.ts";
import { jsonRoutes, makeOperation } from "../api_pipeline.ts";
import { csvOf, csvResponse } from "../csv_file.ts";
import type { Fields } from "../form_fields.ts";
import { type Choice, filtersOf, menuField, textField } from "../look/field.ts";
import { platforms } from "../look/names.ts";
import { keyMenu } from "../look/owned_key.ts";
import { say } from "../look/say.ts";
import { dayMsOf, numberHtml } from "../look/time.ts";
import { type OwnerPages, type OwnerVisitor, positionOf } from "../owner_pages.ts";
import type { Page } from "../page.ts";
import { paths, withQuery } from "../paths.ts";
import { makeAccountNames, makeEntryNames } from "./entry_names.ts";
import { actionName, historyHtml } from "./sentences.ts";

const pageSize = 50;

const mostScopes = 10;

/** The most entries in a file. There is a limit because the whole file is made in memory. */
const fileSize = 10_000;

const noEntries: AuditPage = { entries: [], next: null };

export const auditRoutes = Effect.fnUntraced(function* ({ page }: OwnerPages) {
  const operation = yield* makeOperation;
  const keys = yield* OwnedKeys;
  const entriesOf = yield* makeOwnedAudit;
  const namesOf = yield* makeEntryNames;
  const scopes = yield* OwnedScopes;
  const links = yield* OwnedLinks;
  const members = yield* Members;
  const namesIn = yield* makeAccountNames;

  /** Returns an ID unchanged. Looks a user name up in the account's communities; null if no user has the name. */
  const userOf = Effect.fnUntraced(function* (owner: KeyOwner, text: string) {
    if (isChatId(text)) return text;
    for (const { scope } of (yield* scopes.list(owner)).slice(0, mostScopes)) {
      const [chatId] = yield* links.chatsMeant(scope, text);
      if (chatId !== undefined) return chatId;
    }
    return null;
  });

  const filterOf = Effect.fnUntraced(function* ({ owner }: OwnerVisitor, query: Fields) {
    const [action, keyId, user] = [query("action"), query("keyId"), query("chatId").trim()];
    const day = dayMsOf(query("day"));
    const filter = {
      action: auditActions.find((known) => known === action) ?? null,
      keyId: keyId === "" ? null : (yield* keys.find(owner, keyId)).id,
      chatId: user === "" ? null : yield* userOf(owner, user),
      // A kind such as "link." selects all actions that begin with it.
      readable: kinds.has(action) ? auditActions.filter((each) => each.startsWith(action)) : null,
      member: isChatId(query("member")) ? ChatId.make(query("member")) : null,
      during: day === null ? null : { from: day, before: day + dayMs },
    } satisfies AuditFilter;
    const typed = {
      action: kinds.has(action) ? action : filter.action,
      member: filter.member,
      keyId: filter.keyId,
      chatId: user || null,
      day: filter.during && query("day"),
    };
    return { filter, typed, isNobody: user !== "" && filter.chatId === null };
  });

  const teamOf = Effect.fnUntraced(function* (owner: KeyOwner) {
    const team = yield* members.seenBy(owner);
    const { chats } = yield* namesIn(team);
    return team.map(({ chatId: value }) => ({
      value,
      label: chats.get(value) ?? say("alts.user", { id: value }),
    }));
  });

  const getAudit = operation(
    DashboardActivity.getAudit,
    function* ({ owner, role, values: { keyId, chatId, action, cursor, limit } }) {
      const key = keyId === null ? null : yield* keys.find(owner, keyId);
      const filter = { action, keyId: key && key.id, chatId };
      const { entries, next } = yield* entriesOf({ owner, role }, cursor, limit, filter);
      return {
        entries: entries.map((entry) => toJson(entry, owner.account)),
        next: next === null ? null : String(next),
      };
    },
  );

  return [
    ...jsonRoutes([getAudit]),
    page(paths.audit, function* (visitor, query) {
      const { owner, role, scopes: own } = visitor;
      const { filter, typed, isNobody } = yield* filterOf(visitor, query);
      const before = positionOf(query("cursor"));
      const { entries, next } = isNobody ? noEntries : yield* entriesOf(visitor, before, pageSize, filter);
      const isSearchCut = next !== null && entries.length < pageSize;
      const listed = yield* keys.list(owner);
      const names = yield* namesOf(visitor, listed, entries);
      return {
        status: isNobody ? 400 : 200,
        title: say("menu.audit"),
        section: "audit",
        problems: isNobody ? [{ name: "chatId", reason: say("reason.known_user") }] : [],
        content: html`
<p>${say(allows(role, "admin") ? (own === null ? "audit.intro" : "audit.intro_some") : "audit.intro_moderator")}</p>
${filterForm(typed, listed, yield* teamOf(owner), visitor)}
${isSearchCut && entries.length === 0 ? null : historyHtml(entries, names, Object.values(typed).every((value) => value === null) ? undefined : say("audit.no_match"))}
${isSearchCut ? html`<p class="hint">${say("audit.searched", { count: numberHtml(mostSearched) })}</p>` : null}
<p class="more">${
          next !== null &&
          html`<a class="button quiet" href="${to(withQuery(paths.audit, { ...typed, cursor: String(next) }))}">${say("audit.older")}</a> `
        }<a href="${to(withQuery(paths.auditFile, typed))}">${say("links.download")}</a></p>`,
      } satisfies Page;
    }),
    page(paths.auditFile, function* (visitor, query) {
      const { filter, isNobody } = yield* filterOf(visitor, query);
      const entries: Array<AuditEntry> = [];
      let next: number | null = null;
      do {
        const left = fileSize - entries.length;
        const found: AuditPage = isNobody ? noEntries : yield* entriesOf(visitor, next, left, filter);
        entries.push(...found.entries);
        next = found.next;
      } while (next !== null && entries.length < fileSize);
      return csvResponse("audit", auditCsv(entries));
    }),
  ];
});

const toJson = (entry: AuditEntry, account: Account) => {
  const { sequence, at, action, requestId, details } = entry;
  const { actor, member } = signedBy(entry);
  const isAccount = actor.type === "account" && actor.id === account.name;
  return {
    id: String(sequence),
    at: formatTimestamp(at),
    action,
    actor: isAccount ? { ...actor, id: shownName(account) } : actor,
    member,
    keyId: keyOf(entry),
    requestId,
    details,
  };
};

/** The kinds of changes, by the beginning of their actions. */
const kinds: ReadonlyMap<string, Html> = new Map([
  ["link", say("audit.kind.link")],
  ["review.", say("audit.kind.review")],
  ["roles.", say("audit.kind.roles")],
  ["key.", say("audit.kind.key")],
  ["webhook.", say("audit.kind.webhook")],
  ["member.", say("audit.kind.member")],
]);

const isReadable = (kind: string, reader: Reader): boolean =>
  readableActions(reader)?.some((action) => action.startsWith(kind)) ?? true;

type Typed = Readonly<Record<"action" | "member" | "keyId" | "chatId" | "day", string | null>>;

const filterForm = (
  typed: Typed,
  listed: ReadonlyArray<KeyDetails>,
  team: ReadonlyArray<Choice>,
  reader: Reader,
): Html => filtersOf(paths.audit, say("alts.show"))`
${menuField({
  name: "action",
  label: say("audit.kind"),
  value: typed.action ?? "",
  choices: [
    { value: "", label: say("audit.all_kinds") },
    ...[...kinds].filter(([kind]) => isReadable(kind, reader)).map(([value, label]) => ({ value, label })),
    ...(readableActions(reader) ?? auditActions).map((value) => ({ value, label: actionName(value) })),
  ],
})}
${menuField({
  name: "member",
  label: say("audit.by"),
  value: typed.member ?? "",
  choices: [{ value: "", label: say("audit.everybody") }, ...team],
})}
${permits(reader, "admin_of_all") ? keyMenu(listed, typed.keyId) : null}
${textField({
  name: "chatId",
  label: say("audit.about", { platform: platforms.chat }),
  hint: say("links.id_or_name"),
  type: "search",
  value: typed.chatId ?? "",
})}
${textField({ name: "day", label: say("audit.day"), hint: say("audit.day.hint"), type: "date", value: typed.day ?? "" })}`;

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
