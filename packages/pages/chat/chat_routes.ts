/** The route to which the chat platform sends what users do in chat. */
import { Cache, ChatPlatform } from "@accountlink/core";
import { type InternalError, PlatformUnavailable, type StoreUnavailable } from "@accountlink/core/errors";
import { Counters } from "@accountlink/core/limits";
import { atMostEvery, monotonicMillis } from "@accountlink/core/monotonic_millis";
import { hourMs } from "@accountlink/core/timestamp";
import {
  answering,
  type BoundRoute,
  contextMaker,
  emptyResponse,
  type HttpResponse,
  HttpSettings,
  makeObservers,
  maxBodySize,
  type RequestContext,
  respond,
  textResponse,
} from "@accountlink/http/for_pages";
import type { APIInteractionResponse } from "discord-api-types/v10";
import { Clock, Data, Effect, Fiber, FiberSet, Metric, Option, Schedule } from "effect";
import { makeAnswers } from "./answers.ts";
import { ChatSettings } from "./chat_settings.ts";
import { type Interaction, readInteraction } from "./interaction.ts";
import { panelName } from "./listings.ts";
import { answerBody, deferral, type Message, messageBody, pong } from "./message.ts";
import { importPublicKey, signatureLife, signedLead, tolerance } from "./signature.ts";

export const interactionsPath = "/chat/interactions";

const route = { id: "chat_interactions", generation: "v2", group: null } as const;

/** The chat platform waits 3 seconds for an answer, so an answer that takes longer than this is deferred. */
const answerTime = "2 seconds";

/** How long the chat platform takes edits of an answer, and how long a stopping server waits for them. */
const [editTime, stopTime] = ["15 minutes", "5 seconds"] as const;

const answerSeconds = Metric.histogram("accountlink_chat_answer_seconds", {
  description: "Time to answer a command in chat, including the edit of a deferred answer",
  boundaries: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30],
});

/** 401: the chat platform did not sign the request. 400 and 413: the request cannot be read. */
class Refused extends Data.TaggedError("Refused")<{ readonly status: 400 | 401 | 413 }> {}

const refuse = (error: Refused | PlatformUnavailable | StoreUnavailable | InternalError) =>
  error._tag === "Refused"
    ? { response: emptyResponse(error.status), error: null }
    : { response: emptyResponse(error._tag === "InternalError" ? 500 : 503), error };

/** Makes the route, or no route if the service answers no commands. */
export const chatRoutes = Effect.gen(function* () {
  const { isOn, publicKey } = yield* ChatSettings;
  const { commands } = yield* ChatPlatform;
  const answerTo = yield* makeAnswers;
  const onlyOnce = yield* makeOnlyOnce;
  const unfinished = yield* FiberSet.make();
  yield* Effect.addFinalizer(() => Effect.ignore(Effect.timeout(FiberSet.awaitEmpty(unfinished), stopTime)));
  const observers = yield* makeObservers;
  const withContext = contextMaker(yield* HttpSettings);
  if (!isOn || (publicKey === null && commands === undefined)) return [];

  let imported: CryptoKey | undefined;
  const keyOf = Effect.gen(function* () {
    const hex =
      publicKey ??
      (commands === undefined
        ? yield* new PlatformUnavailable({ operation: "ChatCommands.application" })
        : (yield* commands.application).publicKey);
    return (imported = yield* importPublicKey(hex));
  });

  const onceAnHour = atMostEvery(hourMs);
  /** Says that the clock is wrong, since then every command is refused. */
  const tellClock = (lead: number) => {
    const apart = `${Math.round(Math.abs(lead) / 1_000)} s ${lead > 0 ? "ahead of" : "behind"}`;
    return onceAnHour(
      Effect.logWarning(
        `Cannot accept a command in chat: its time is ${apart} this machine's clock, expected at most ${tolerance / 1_000} s`,
      ),
    );
  };

  const readSigned = Effect.fnUntraced(function* ({ request }: RequestContext) {
    const body = yield* Effect.mapError(request.readBody(maxBodySize), () => new Refused({ status: 413 }));
    const signature = (request.header("x-signature-ed25519") ?? "").toLowerCase();
    const timestamp = request.header("x-signature-timestamp") ?? "";
    const key = imported ?? (yield* keyOf);
    const lead = yield* signedLead(key, { signature, timestamp, body });
    if (lead !== null && Math.abs(lead) > tolerance) yield* tellClock(lead);
    if (lead === null || Math.abs(lead) > tolerance) return yield* new Refused({ status: 401 });
    return Option.getOrNull(readInteraction(body, signature)) ?? (yield* new Refused({ status: 400 }));
  });

  /** Replaces a deferred answer. The answer of a node that dies meanwhile is lost. */
  const edit = Effect.fnUntraced(function* (interaction: Interaction, message: Message) {
    if (commands === undefined) return;
    yield* commands.editAnswer(interaction, messageBody(message)).pipe(
      Effect.retry(Schedule.exponential("1 second")),
      Effect.timeout(editTime),
      Effect.catch(() => Effect.logWarning("Cannot edit an answer in chat: the platform is unavailable")),
    );
  });

  const answerNew = Effect.fnUntraced(function* (interaction: Interaction, requestId: string) {
    const startedAt = yield* monotonicMillis;
    const measure = Effect.flatMap(monotonicMillis, (now) =>
      Metric.update(answerSeconds, (now - startedAt) / 1_000),
    );
    const working = yield* FiberSet.run(unfinished, answerTo(interaction, requestId));
    const done =
      commands === undefined
        ? Effect.asSome(Fiber.join(working))
        : Effect.timeoutOption(Fiber.join(working), answerTime);
    const message = Option.getOrNull(yield* done);
    if (message !== null) return yield* Effect.as(measure, answerBody(message));
    const editing = Effect.flatMap(Fiber.join(working), (late) => edit(interaction, late));
    yield* FiberSet.run(unfinished, Effect.andThen(editing, measure));
    return deferralOf(interaction);
  });

  const answer = Effect.fnUntraced(function* (context: RequestContext) {
    const interaction = yield* readSigned(context);
    if (interaction === "ping") return respondWith(JSON.stringify(pong));
    const deferred = JSON.stringify(deferralOf(interaction));
    const answered = Effect.map(answerNew(interaction, context.requestId), (body) => JSON.stringify(body));
    return respondWith(yield* onlyOnce(interaction.signature, answered, deferred));
  });

  const bound: BoundRoute = {
    method: "POST",
    path: interactionsPath,
    answer: withContext(route, (context) =>
      respond(
        observers,
        answering(context, answer(context)),
        (_, response) => response,
        (_, error) => refuse(error),
      ),
    ),
  };
  return [bound];
});

/**
 * Makes a function that acts once on each signature, on one node of all. The same signature gets the same answer again,
 * or the deferral while the answer is not known.
 */
const makeOnlyOnce = Effect.gen(function* () {
  const counters = yield* Counters;
  const cache = yield* Cache;

  return Effect.fnUntraced(function* (signature: string, answered: Effect.Effect<string>, deferred: string) {
    const key = `interaction:${signature}`;
    const now = yield* Clock.currentTimeMillis;
    const { admitted } = yield* counters.admit([{ key, limit: 1, durationMs: signatureLife }], now);
    if (admitted) {
      const answer = yield* answered;
      yield* Effect.ignore(cache.set(key, answer, now + signatureLife, now));
      return answer;
    }
    const find = Effect.flatMap(Clock.currentTimeMillis, (at) => cache.get(key, at));
    const found = find.pipe(
      Effect.repeat({ until: Option.isSome, schedule: Schedule.spaced("100 millis") }),
      Effect.timeoutOption(answerTime),
    );
    return Option.getOrElse(Option.flatten(yield* found), () => deferred);
  });
});

/** The answer to a button replaces its message, unless everybody sees the message. Only `panel` answers everybody. */
const deferralOf = ({ done }: Interaction): APIInteractionResponse =>
  done.type === "button" ? deferral(!done.isPublic, false) : deferral(false, done.name === panelName);

const respondWith = (body: string): HttpResponse =>
  textResponse(200, body, "application/json", { "cache-control": "no-store" });
