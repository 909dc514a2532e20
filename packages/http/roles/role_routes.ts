import { RolePlans } from "@accountlink/core/roles";
import { MembersV2 } from "@accountlink/http-api";
import { Effect } from "effect";
import type { Pipeline } from "../pipeline/pipeline.ts";

export const roleRoutes = Effect.fnUntraced(function* ({ keyed }: Pipeline) {
  const plans = yield* RolePlans;
  return [
    keyed(
      MembersV2.syncMember,
      Effect.fnUntraced(function* ({ key, values: { chatId, guildId } }) {
        const { added, removed, nickname } = yield* plans.sync({ scope: key.scope, guildId }, chatId);
        return { data: { chatId, added, removed, nickname } };
      }),
    ),
  ];
});
