/** Compares the member that an owner names with rules: the stored ones, or those of a preview. */
import type { ScopedGuild } from "@accountlink/core/communities";
import { isChatId } from "@accountlink/core/ids";
import { OwnedLinks } from "@accountlink/core/owners";
import { type PlanSettings, RolePlans } from "@accountlink/core/roles";
import { Effect } from "effect";
import { makeNameSearch } from "../members/name_search.ts";
import type { OwnerVisitor } from "../owner_pages.ts";
import type { RolePreview } from "./member_preview.ts";

export const makePreviewedMember = Effect.gen(function* () {
  const plans = yield* RolePlans;
  const links = yield* OwnedLinks;
  const findByName = yield* makeNameSearch;

  /** @param who an ID or a user name */
  return (visitor: OwnerVisitor, guild: ScopedGuild, who: string, settings?: PlanSettings) =>
    Effect.gen(function* () {
      const chatId = isChatId(who) ? who : yield* findByName(who, visitor);
      const changes = yield* plans.preview(guild, chatId, settings);
      const isLinked = (yield* links.find(guild.scope, chatId)) !== null;
      return { who, found: { isLinked, changes } } satisfies RolePreview;
    }).pipe(
      Effect.catchTag(["InvalidParameter", "Forbidden"], () =>
        Effect.succeed<RolePreview>({ who, found: null }),
      ),
    );
});
