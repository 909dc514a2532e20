import { AuditLog, OwnedKeys } from "@accountlink/core";
import { OwnedLinks } from "@accountlink/core/communities";
import type { KeyDetails } from "@accountlink/core/keys";
import { Limits, quotaOf } from "@accountlink/core/limits";
import { makeUsageDays } from "@accountlink/core/usage";
import { HttpSettings } from "@accountlink/http/for_pages";
import { Effect } from "effect";
import { makeEntryNames } from "../audit/entry_names.ts";
import { noticeHtml } from "../look/notice.ts";
import { type Fields, makeGuildChoice, namedGuilds, type OwnerVisitor } from "../owner_pages.ts";
import { issuedPage } from "./issued_page.ts";
import { type KeyRules, type NewKeyForm } from "./key_form.ts";
import { keyPage, type RefusedAct } from "./key_page.ts";
import { keysPage } from "./keys_page.ts";
import { newKeyPage, type Refused } from "./new_key_page.ts";

const shownChanges = 10;

export const makeKeyViews = Effect.gen(function* () {
  const keys = yield* OwnedKeys;
  const log = yield* AuditLog;
  const links = yield* OwnedLinks;
  const limits = yield* Limits;
  const usage = yield* makeUsageDays;
  const namesOf = yield* makeEntryNames;
  const guildsOf = yield* makeGuildChoice;
  const { publicUrl } = yield* HttpSettings;

  return {
    list: Effect.fnUntraced(function* (visitor: OwnerVisitor, query: Fields) {
      const { account } = visitor.owner;
      const plan = yield* keys.plan(account);
      const listed = yield* keys.list(account);
      const daysOf = yield* usage.byKey(account.name, 7);
      const weeks = listed.map((key) => ({ key, days: daysOf(key.id) }));
      const list = { keys: listed, guilds: namedGuilds(visitor), ...plan };
      const choice = { search: query("q").trim(), sort: query("sort"), isAll: query("all") !== "" };
      return keysPage(list, weeks, nowOf(visitor), choice);
    }),

    /** @param refused why the form is shown again; null for a new form */
    blank: (visitor: OwnerVisitor, form: NewKeyForm, refused: Refused | null) =>
      Effect.map(guildsOf(visitor), (owned) => newKeyPage(form, owned, refused)),

    /**
     * @param done the name of the notice to show, not validated yet
     * @param refused the form to show again, and why it was refused; null if none was refused
     */
    one: Effect.fnUntraced(function* (
      visitor: OwnerVisitor,
      key: KeyDetails,
      rules: KeyRules,
      done: string,
      refused: RefusedAct | null,
    ) {
      const filter = { action: null, keyId: key.id };
      const { name } = visitor.owner.account;
      const history = yield* log.list(name, null, shownChanges, filter);
      const [created = null] = yield* log.list(name, null, 1, { ...filter, action: "key.created" });
      const view = {
        key,
        quota: quotaOf(key.limits, limits[key.tier]),
        guilds: namedGuilds(visitor),
        names: yield* namesOf(visitor, [key], created === null ? history : [created, ...history]),
        created,
        history,
      };
      return keyPage(view, rules, nowOf(visitor), noticeHtml(done), refused);
    }),

    issued: Effect.fnUntraced(function* (
      { owner }: OwnerVisitor,
      key: KeyDetails,
      token: string,
      isNew: boolean,
    ) {
      // The example asks for a linked user, so that its answer has a link.
      const { links: newest } = yield* links.page(key.scope, "", null, 1);
      return issuedPage({ key, token, isNew }, publicUrl, newest[0]?.link.chatId ?? owner.chatId);
    }),
  };
});

const nowOf = ({ context }: OwnerVisitor) => context.clock.currentTimeMillisUnsafe();
