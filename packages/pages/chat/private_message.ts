import type { ChatChannels, PrivateOutcome } from "@accountlink/core/platforms";
import { Effect } from "effect";

/** How long an unanswered message waits until it is sent again, and how often it is: platforms know it for some minutes. */
const [pause, mostRepeats] = ["15 seconds", 3] as const;

/** Sends a private message at most once. An unanswered one is sent again, and can be interrupted in between. */
export const sendPrivately = Effect.fnUntraced(function* (
  { postPrivately }: ChatChannels,
  ...message: Parameters<ChatChannels["postPrivately"]>
) {
  const send = Effect.uninterruptible(postPrivately(...message));
  // What did not send the message again says nothing of the first one.
  const sendAgain = Effect.match(send, {
    onSuccess: (outcome): PrivateOutcome => (outcome === "bot_refused" ? "unanswered" : outcome),
    onFailure: (): PrivateOutcome => "unanswered",
  });
  let outcome = yield* send;
  for (let repeat = 0; outcome === "unanswered" && repeat < mostRepeats; repeat++) {
    yield* Effect.interruptible(Effect.sleep(pause));
    outcome = yield* sendAgain;
  }
  return outcome;
});
