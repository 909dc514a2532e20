/** Routes of the pages of keys, and the forms that create and change keys. */
import { OwnedKeys } from "@accountlink/core";
import { InvalidParameter } from "@accountlink/core/errors";
import type { KeyDetails, KeyOwner } from "@accountlink/core/keys";
import { OwnedLinks } from "@accountlink/core/owners";
import { makeUsageDays } from "@accountlink/core/usage";
import { HttpSettings } from "@accountlink/http/for_pages";
import { Effect } from "effect";
import { jsonRoutes } from "../api_pipeline.ts";
import type { Fields } from "../form_fields.ts";
import { isUntouched } from "../form_values.ts";
import { nameOf } from "../look/owned_key.ts";
import { guildErrors, orShowAgain, type Refused } from "../look/refused.ts";
import { requireSeen } from "../look/rotation.ts";
import {
  makeActs,
  makeGuildChoice,
  namedGuilds,
  type OwnerPages,
  type OwnerVisitor,
  typedIn,
} from "../owner_pages.ts";
import { keyPath, paths } from "../paths.ts";
import { emptyKeyForm, expiryOf, type KeyRules, keyLabels, type NewKeyForm, rulesOf } from "./key_form.ts";
import { makeKeyOperations } from "./key_operations.ts";
import { keyPage, makeKeyView } from "./key_page.ts";
import { keysPage } from "./keys_page.ts";
import { type Issued, issuedPage, type Made, newKeyPage, refusedIfSent } from "./new_key_page.ts";

export const keyRoutes = Effect.fnUntraced(function* ({ page, form }: OwnerPages) {
  const keys = yield* OwnedKeys;
  const operations = yield* makeKeyOperations;
  const links = yield* OwnedLinks;
  const usage = yield* makeUsageDays;
  const viewOf = yield* makeKeyView;
  const guildsOf = yield* makeGuildChoice;
  const { publicUrl } = yield* HttpSettings;
  const keyOf = ({ owner, context }: OwnerVisitor) => keys.find(owner, String(context.query["id"]));

  const list = Effect.fnUntraced(function* (visitor: OwnerVisitor, query: Fields) {
    const { account } = visitor.owner;
    const plan = yield* keys.plan(account);
    const listed = yield* keys.list(visitor.owner);
    const daysOf = yield* usage.byKey(account.name, 7);
    const weeks = listed.map((key) => ({ key, days: daysOf(key.id) }));
    const shown = { keys: listed, guilds: namedGuilds(visitor), ...plan };
    const choice = { search: query("q").trim(), sort: query("sort"), isAll: query("all") !== "" };
    return keysPage(shown, weeks, nowOf(visitor), choice);
  });

  const newestOf = ({ owner }: OwnerVisitor) =>
    Effect.map(
      keys.list(owner),
      ([key]): Made | undefined =>
        key && { createdAt: key.createdAt, name: nameOf(key), path: keyPath(key.id) },
    );

  const blank = Effect.fnUntraced(function* (
    visitor: OwnerVisitor,
    typed: NewKeyForm,
    refused: Refused | null,
  ) {
    const newest = yield* newestOf(visitor);
    return newKeyPage(typed, yield* guildsOf(visitor), visitor.role, { refused, newest });
  });

  const one = (visitor: OwnerVisitor, key: KeyDetails, rules: KeyRules, refused: Refused | null) =>
    Effect.map(viewOf(visitor, key), (view) => keyPage(view, rules, visitor.role, nowOf(visitor), refused));

  const issued = Effect.fnUntraced(function* (
    { chatId }: KeyOwner,
    made: Omit<Issued, "isNew">,
    isNew: boolean,
  ) {
    // The example asks for a linked user, so that its answer has a link.
    const { links: newest } = yield* links.page(made.key.scope, "", null, 1);
    return issuedPage({ ...made, isNew }, publicUrl, newest[0]?.link.chatId ?? chatId);
  });

  const act = makeActs({ form }, keyPath, keyOf, (visitor, key, refused, fields, name) =>
    one(
      visitor,
      key,
      name === "update" ? typedIn({ ...keyLabels, shown: "" }, fields) : rulesOf(key),
      refused,
    ),
  );

  return [
    ...jsonRoutes(operations),
    page(paths.keys, list),
    page(paths.newKey, (visitor, query) =>
      blank(visitor, { ...emptyKeyForm, guildId: query("guildId") }, null),
    ),
    form(paths.keys, function* (visitor, fields) {
      const typed = typedIn(keyLabels, fields);
      const sent = refusedIfSent("key", fields, yield* newestOf(visitor));
      if (sent !== null) return yield* blank(visitor, typed, sent);
      return yield* orShowAgain(
        Effect.flatMap(
          operations.create.submit(visitor, fields, { expiresAt: expiryOf(typed.expiresAt) }),
          (made) => issued(visitor.owner, made, true),
        ),
        (refused) => blank(visitor, typed, refused),
        guildErrors,
      );
    }),
    page(keyPath(":id"), (visitor) =>
      Effect.flatMap(keyOf(visitor), (key) => one(visitor, key, rulesOf(key), null)),
    ),

    act("update", operations.update, "updated", (key, fields) => {
      const { name, expiresAt } = typedIn(keyLabels, fields);
      if (name === "") return InvalidParameter.one("name", "expected 1 to 80 characters");
      // If the last day did not change, the exact expiry is kept.
      const isKept = isUntouched(fields, "expiresAt") || expiresAt === rulesOf(key).expiresAt;
      const end = isKept ? undefined : expiryOf(expiresAt);
      return Effect.succeed({ expiresAt: end });
    }),
    act("status", operations.update, ({ status }) => (status === "active" ? "enabled" : "disabled")),
    act(
      "rotate",
      operations.rotate,
      (made, { owner }) => issued(owner, made, false),
      requireSeen("key", "graceSeconds"),
    ),
    act("revoke", operations.revoke, "revoked", ({ id }, fields) =>
      fields("confirm").trim() === id
        ? Effect.succeed({})
        : InvalidParameter.one("confirm", `expected ${id}`),
    ),
  ];
});

const nowOf = ({ context }: OwnerVisitor) => context.clock.currentTimeMillisUnsafe();
