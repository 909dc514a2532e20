/** Routes of the role plans: the page of a plan, the comparison of all members before it is on, and "Apply now". */
import { guildOf, LinkStore } from "@accountlink/core";
import { isChatId } from "@accountlink/core/ids";
import { originOf } from "@accountlink/core/keys";
import { pageOf } from "@accountlink/core/list_page";
import { OwnedScopes } from "@accountlink/core/owners";
import { RolePlans, templatesOf } from "@accountlink/core/roles";
import { toStorable } from "@accountlink/core/storable_text";
import { Clock, Effect } from "effect";
import { jsonRoutes } from "../api_pipeline.ts";
import { makeAccountNames } from "../audit/entry_names.ts";
import { type ManagedGuild, makeInGuild } from "../communities/managed_guild.ts";
import { csvStream } from "../csv_file.ts";
import type { Fields } from "../form_fields.ts";
import { orShowAgain, type Refused } from "../look/refused.ts";
import { say } from "../look/say.ts";
import { type OwnerPages, type OwnerVisitor, positionOf, seeOther } from "../owner_pages.ts";
import {
  historyFilePath,
  historyPath,
  nicknamesPath,
  paths,
  previewMembersPath,
  rolesPath,
  rolesPreviewPath,
} from "../paths.ts";
import { historyFile, historyPage, takenIn } from "./history_page.ts";
import { makePreviewedMember } from "./member_preview.ts";
import { nicknamesFile } from "./nicknames_section.ts";
import { examplesIn, type PreviewChoice, previewMembersPage, previewPage } from "./preview_page.ts";
import { makeRoleActs, seePreview, valuesOf } from "./role_acts.ts";
import { formOfPlan } from "./role_form.ts";
import { makeRoleOperations } from "./role_operations.ts";
import { makeShowRoles, seenIn } from "./roles_view.ts";
import { makeThings } from "./rule_sentence.ts";

interface PreviewTyped {
  readonly refused?: Refused;
  /** The choice of a form that was refused. */
  readonly chosen?: PreviewChoice;
  /** The member to look at; empty for none. */
  readonly who?: string;
  /** The preview that the owner started or saw, which another one may have replaced; empty if unknown. */
  readonly id?: string;
}

const replacedPreview: Refused = { status: 200, problems: [], general: say("preview.replaced") };

export const rolesRoutes = Effect.fnUntraced(function* (pages: OwnerPages) {
  const plans = yield* RolePlans;
  const scopes = yield* OwnedScopes;
  const operations = yield* makeRoleOperations;
  const namesIn = yield* makeAccountNames;
  const inGuild = yield* makeInGuild(pages, rolesPath, say("roles.title"));
  const show = yield* makeShowRoles;
  const thingsOf = yield* makeThings;
  const store = yield* LinkStore;
  const memberNamed = yield* makePreviewedMember;
  const act = yield* makeRoleActs(show, operations);

  /**
   * Shows what a preview found; a redirect to the rules without a preview.
   *
   * @param seen the version of the plan that the owner edited; empty if unknown
   */
  const showPreview = Effect.fnUntraced(function* (
    visitor: OwnerVisitor,
    guild: ManagedGuild,
    seen: string,
    { refused, who = "", chosen, id = "" }: PreviewTyped = {},
  ) {
    const { scope, guildId } = guild;
    const preview = yield* plans.findPreview(guild);
    if (preview === null) return seeOther(rolesPath(scope.pid), { guildId });
    const plan = yield* plans.findPlan(guild);
    const view = {
      ...guild,
      preview,
      hasLinks: (yield* store.countLinks(scope.pid, { enough: 1 })) > 0,
      isOn: plan.state === "on",
      keepsNicknames: templatesOf(plan).length > 0 && templatesOf(preview.settings).length === 0,
      chosen: chosen ?? {
        // Only who has turned rules on has chosen it.
        unlinked: plan.state === "on" && plan.rules.length > 0 ? plan.unlinked : "keep",
        take: [],
      },
      roles: yield* plans.guildRoles(guildId),
      names: (yield* namesIn([...preview.names, ...examplesIn(preview)])).chats,
      seen: seenIn(seen, plan, refused ?? null),
      things: yield* thingsOf(formOfPlan(preview.settings)),
      member: who === "" ? null : yield* memberNamed(visitor, guild, who, preview.settings),
    } as const;
    const replaced = id === "" || id === preview.id ? null : replacedPreview;
    return previewPage(view, refused ?? replaced);
  });

  const submitPreview = Effect.fnUntraced(function* (
    visitor: OwnerVisitor,
    guild: ManagedGuild,
    fields: Fields,
  ) {
    const { scope, guildId } = guild;
    const preview = yield* plans.findPreview(guild);
    if (preview === null) return seeOther(rolesPath(scope.pid), { guildId });
    if (fields("act") === "again") {
      const { id } = yield* operations.previewPut.run(visitor, valuesOf(guild, preview.settings));
      return seePreview(guild, fields("seen"), id);
    }
    if (preview.id !== fields("id") || preview.state !== "done")
      return seePreview(guild, fields("seen"), fields("id"));
    const chosen = fields("unlinked");
    const unlinked = chosen === "keep" || chosen === "remove" ? chosen : preview.settings.unlinked;
    const settings = { ...preview.settings, unlinked, state: "on" as const };
    const take = fields.all("take");
    const values = { ...valuesOf(guild, settings, fields("seen")), take, previewed: preview.id };
    return yield* orShowAgain(
      Effect.as(
        operations.putPreviewed.run(visitor, values),
        seeOther(rolesPath(scope.pid), { guildId, done: "rolesOn" }),
      ),
      (refused) => showPreview(visitor, guild, fields("seen"), { refused, chosen: { unlinked, take } }),
    );
  });

  const changesOnPage = 50;

  const showMembers = Effect.fnUntraced(function* (guild: ManagedGuild, query: Fields) {
    const { scope, guildId } = guild;
    const preview = yield* plans.findPreview(guild);
    if (preview === null) return seeOther(rolesPath(scope.pid), { guildId });
    const [roleId, cursor] = [toStorable(query("roleId")), query("cursor")];
    const change = query("change") === "took" ? "took" : "gave";
    const role = { preview: preview.id, roleId, change } as const;
    const after = isChatId(cursor) ? cursor : null;
    const found = yield* plans.previewMembers(guild, role, after, changesOnPage + 1);
    const { page: members, last } = pageOf(found, changesOnPage);
    return previewMembersPage({
      ...guild,
      roleId,
      change,
      members,
      next: last && last.chatId,
      seen: query("seen"),
      roles: yield* plans.guildRoles(guildId),
      names: (yield* namesIn(members)).chats,
    });
  });

  const showHistory = Effect.fnUntraced(function* (
    { owner }: OwnerVisitor,
    guild: ManagedGuild,
    cursor: string,
    refused: Refused | null = null,
  ) {
    const { guildId } = guild;
    const before = positionOf(cursor);
    const found = yield* plans.roleHistory(guild, before, changesOnPage + 1);
    const { page: changes, last } = pageOf(found, changesOnPage);
    const givable = yield* plans.givableRoles(guildId, originOf(owner));
    const view = {
      ...guild,
      changes,
      next: last && String(last.number),
      roles: yield* plans.guildRoles(guildId),
      names: (yield* namesIn(changes)).chats,
      taken: yield* takenIn(plans, guild, givable, yield* Clock.currentTimeMillis),
      pending: yield* plans.countPending(guild),
    };
    return historyPage(view, refused);
  });

  const putBack = Effect.fnUntraced(function* (visitor: OwnerVisitor, guild: ManagedGuild, fields: Fields) {
    const { scope, guildId } = guild;
    return yield* orShowAgain(
      Effect.as(
        operations.putBack.submit(visitor, fields, { pid: scope.pid, guildId }),
        seeOther(historyPath(scope.pid), { guildId, done: "rolesBack" }),
      ),
      (refused) => showHistory(visitor, guild, "", refused),
    );
  });

  return [
    ...jsonRoutes(operations),

    inGuild.page(previewMembersPath(":pid"), (_, guild, query) => showMembers(guild, query)),

    inGuild.page(historyPath(":pid"), (visitor, guild, query) =>
      showHistory(visitor, guild, query("cursor")),
    ),

    inGuild.form(historyPath(":pid"), putBack),

    inGuild.page(historyFilePath(":pid"), (visitor, guild) => {
      const mayRead = pages.stillMay(historyFilePath(":pid"), visitor, [guild.scope.pid]);
      return Effect.succeed(csvStream("roles-given-and-taken", historyFile(plans, guild), mayRead));
    }),

    inGuild.page(rolesPreviewPath(":pid"), (visitor, guild, query) =>
      showPreview(visitor, guild, query("seen"), { who: query("who").trim(), id: query("id") }),
    ),

    inGuild.form(rolesPreviewPath(":pid"), submitPreview),

    inGuild.page(
      rolesPath(":pid"),
      Effect.fnUntraced(function* (visitor, guild, query) {
        const draft = query("draft") === "" ? null : yield* plans.findPreview(guild);
        const shown = draft?.id === query("draft") && {
          typed: formOfPlan(draft.settings),
          seen: query("seen"),
        };
        return yield* show(visitor, guild, shown || {});
      }),
    ),

    inGuild.page(nicknamesPath(":pid"), (visitor, guild) => {
      const mayRead = pages.stillMay(nicknamesPath(":pid"), visitor, [guild.scope.pid]);
      return Effect.succeed(csvStream("nicknames-before", nicknamesFile(plans, guild), mayRead));
    }),

    inGuild.form(rolesPath(":pid"), (visitor, guild, fields) => act({ visitor, guild, fields })),

    pages.form(paths.applyRoles, function* (visitor, fields) {
      const scope = yield* scopes.find(visitor.owner, fields("pid"));
      const [pid, guildId, chatId] = [scope.pid, guildOf(scope), fields("chatId")];
      if (guildId === null || !isChatId(chatId)) return seeOther(paths.links);
      const { settled } = yield* operations.applyNow.run(visitor, { pid, guildId, chatId });
      // Problems without a member concern the rules.
      const isDone = settled.retryAt === null && settled.problems.every((problem) => problem.chatId === null);
      return seeOther(paths.linkUser, { pid, chatId, ...(isDone && { done: "rolesApplied" }) });
    }),
  ];
});
