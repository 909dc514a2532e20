/** Finds the answer to an interaction. */
import { CommunityStore } from "@accountlink/core/communities";
import { Counters, secondsUntil } from "@accountlink/core/limits";
import { GuildManagers, PlatformRefusals } from "@accountlink/core/platforms";
import { Secrets } from "@accountlink/core/secrets";
import { HttpSettings } from "@accountlink/http/for_pages";
import { Cause, Clock, Effect, Metric, Option } from "effect";
import { Languages } from "../languages/mod.ts";
import { ChatSettings } from "./chat_settings.ts";
import { type Answer, makeCommands } from "./commands.ts";
import type { Interaction } from "./interaction.ts";
import { commandName, verifyListing } from "./listings.ts";
import { type ButtonAction, type Message, userText } from "./message.ts";

const commandsTotal = Metric.counter("accountlink_chat_commands_total", {
  description: "Commands and buttons in chat by name and outcome",
  incremental: true,
});

const minute = 60_000;

/** How an interaction ended, for metrics. `gone`: the service has no such command or button any more. */
type Outcome = "answered" | "direct" | "no_home" | "gone" | "limited" | "refused" | "unavailable" | "failed";

type Answered = readonly [Outcome, Message];

/** Makes a function that answers interactions. It always answers, if only that the service is unavailable. */
export const makeAnswers = Effect.gen(function* () {
  const communities = yield* CommunityStore;
  const counters = yield* Counters;
  const { counterName } = yield* Secrets;
  const managers = yield* GuildManagers;
  const { chargeTo } = yield* PlatformRefusals;
  const { publicUrl } = yield* HttpSettings;
  const { commandsPerMinute: limit } = yield* ChatSettings;
  const languages = yield* Languages;
  const { commands, buttons } = yield* makeCommands;

  /** Returns how many seconds a user with too many commands has to wait; null for others. */
  const waitOf = Effect.fnUntraced(function* ({ chatId }: Interaction) {
    if (limit === 0) return null;
    const now = yield* Clock.currentTimeMillis;
    const rule = { key: `chat:${yield* counterName(`chat ${chatId}`)}`, limit, durationMs: minute };
    const { admitted, states } = yield* counters.admit([rule], now);
    return admitted ? null : secondsUntil(states[0]?.resetsAt ?? now + minute, now, minute);
  });

  const answer = Effect.fnUntraced(function* (interaction: Interaction, requestId: string) {
    const { done, chatId, guildId, isManager } = interaction;
    const language = yield* languages.ofLocale(interaction.locale);
    const wait = yield* waitOf(interaction);
    if (wait !== null)
      return ["limited", { content: language.text("chat.limited", { seconds: wait }) }] satisfies Answered;
    if (guildId === null) {
      const button = { label: language.text("chat.direct.open"), url: `${publicUrl}/me` };
      return ["direct", { content: language.text("chat.direct.ask"), buttons: [button] }] satisfies Answered;
    }
    const answering = answerTo(interaction);
    if (answering === undefined) {
      const command = commandName(verifyListing, interaction.locale, language);
      return ["gone", { content: language.text(`chat.gone.${done.type}`, { command }) }] satisfies Answered;
    }
    const found = Option.getOrNull(yield* communities.findHome(guildId));
    // An account to which nobody lends the guild any more has no list of its members.
    const isManaged =
      found !== null && (yield* chargeTo(found.scope.account)(managers.mayName(found.scope, guildId)));
    const home = isManaged ? found : null;
    if (home === null) {
      const button = { label: language.text("chat.no_home.open"), url: `${publicUrl}/dashboard/communities` };
      const message = { content: language.text("chat.no_home"), buttons: isManager ? [button] : [] };
      return ["no_home", message] satisfies Answered;
    }
    const guildLanguage = yield* languages.ofLocale(interaction.guildLocale);
    const target = (done.type === "command" ? done.target : null) ?? chatId;
    const text = done.type === "command" ? done.text : null;
    const asked = { ...interaction, home, guildId, target, text, language, guildLanguage, requestId };
    return yield* answering(asked).pipe(
      chargeTo(home.scope.account),
      Effect.map((message): Answered => ["answered", message]),
      Effect.catchTag("Forbidden", () =>
        Effect.succeed<Answered>([
          "refused",
          { content: language.text("chat.sync.not_member", { user: userText(target) }) },
        ]),
      ),
    );
  });

  const answerTo = ({ done }: Interaction): Answer | undefined => {
    if (done.type === "command") return Object.hasOwn(commands, done.name) ? commands[done.name] : undefined;
    return Object.hasOwn(buttons, done.action) ? buttons[done.action as ButtonAction] : undefined;
  };

  return Effect.fnUntraced(function* (interaction: Interaction, requestId: string) {
    const language = yield* languages.ofLocale(interaction.locale);
    const unavailable: Message = { content: language.text("chat.unavailable") };
    const [outcome, message] = yield* answer(interaction, requestId).pipe(
      Effect.catchTag(["PlatformUnavailable", "StoreUnavailable"], () =>
        Effect.succeed<Answered>(["unavailable", unavailable]),
      ),
      Effect.catchDefect((defect) =>
        Effect.as(Effect.logError("Cannot answer a command", Cause.die(defect)), [
          "failed",
          unavailable,
        ] satisfies Answered),
      ),
    );
    const { done } = interaction;
    const name = done.type === "command" ? done.name : done.action;
    const command = answerTo(interaction) === undefined ? "unknown" : name;
    yield* Metric.update(Metric.withAttributes(commandsTotal, { command, outcome }), 1);
    return message;
  });
});
