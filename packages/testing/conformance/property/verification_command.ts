/** Random commands for sessions and flows, on the same scopes and users as link commands. */
import type { ChatId, GameId } from "@accountlink/core";
import type { Proof } from "@accountlink/core/flow";
import type { SessionStep } from "@accountlink/core/sessions";
import type { Millis } from "@accountlink/core/timestamp";
import * as FastCheck from "fast-check";
import { ada, bob, chess, dan, poker, type ScopeName } from "../scopes.ts";

/** The numbers in `session`, `flow` and `challenge` are indexes into the lists of `CommandSubjects`. */
export type VerificationCommand =
  | {
      readonly op: "createSession";
      readonly session: number;
      readonly scope: ScopeName;
      readonly chatId: ChatId | null;
      readonly isLimited: boolean;
      readonly at: Millis;
    }
  | { readonly op: "findSession"; readonly session: number }
  | { readonly op: "changedSince"; readonly at: Millis; readonly sessions: ReadonlyArray<number> | null }
  | { readonly op: "advance"; readonly session: number; readonly to: SessionStep; readonly at: Millis }
  | {
      readonly op: "complete";
      readonly scope: ScopeName;
      readonly flow: number;
      readonly chatId: ChatId;
      readonly gameId: GameId;
      readonly keeps: boolean;
      readonly at: Millis;
    }
  | { readonly op: "sweep"; readonly at: Millis; readonly sessionsBefore: Millis }
  | {
      readonly op: "beginFlow";
      readonly flow: number;
      readonly session: number | null;
      readonly scope: ScopeName;
    }
  | { readonly op: "findFlow"; readonly flow: number; readonly at: Millis }
  | { readonly op: "endFlow"; readonly flow: number }
  | {
      readonly op: "challenge";
      readonly flow: number;
      readonly challenge: number;
      readonly expiresAt: Millis;
    }
  | { readonly op: "takeChallenge"; readonly flow: number; readonly challenge: number; readonly at: Millis }
  | {
      readonly op: "prove";
      readonly flow: number;
      readonly proof: Proof;
      readonly at: Millis;
      readonly nextFlow: number;
    };

export const sessionCount = 3;
export const flowCount = 3;
export const challengeCount = 2;

/** The deadline of sessions and flows, which is also the latest time of a command. */
export const commandDeadline: Millis = 3;

const { array, constant, constantFrom, nat, oneof, option, record } = FastCheck;

const session = nat(sessionCount - 1);
const flow = nat(flowCount - 1);
const challenge = nat(challengeCount - 1);
const at = nat(commandDeadline);
// Most commands are early, most name `ada`, and most name `chess`, so that flows often complete before their deadline.
const early = oneof({ weight: 4, arbitrary: constantFrom(0, 1) }, { weight: 1, arbitrary: at });
const chatId = oneof(
  { weight: 3, arbitrary: constant(ada) },
  { weight: 1, arbitrary: constantFrom(bob, dan) },
);
const gameId = oneof({ weight: 3, arbitrary: constant(chess) }, { weight: 1, arbitrary: constant(poker) });
const scope = oneof(
  { weight: 3, arbitrary: constant<ScopeName>("global") },
  { weight: 1, arbitrary: constant<ScopeName>("guild") },
);
const proof: FastCheck.Arbitrary<Proof> = oneof(
  record({ step: constant("chat"), chatId }),
  record({ step: constant("game"), gameId }),
);

const keeps = oneof({ weight: 4, arbitrary: constant(false) }, { weight: 1, arbitrary: constant(true) });

const sessionCommand: FastCheck.Arbitrary<VerificationCommand> = oneof(
  {
    weight: 3,
    arbitrary: record({
      op: constant("createSession"),
      session,
      scope,
      chatId: option(chatId, { freq: 1 }),
      isLimited: FastCheck.boolean(),
      at: early,
    }),
  },
  {
    weight: 2,
    arbitrary: record({
      op: constant("advance"),
      session,
      to: constantFrom("opened", "cancelled", "expired"),
      at,
    }),
  },
  {
    weight: 12,
    arbitrary: record({ op: constant("complete"), scope, flow, chatId, gameId, keeps, at: early }),
  },
  { weight: 1, arbitrary: record({ op: constant("findSession"), session }) },
  { weight: 1, arbitrary: record({ op: constant("changedSince"), at, sessions: option(array(session)) }) },
);

const challengeCommand = record({ op: constant("challenge"), flow, challenge, expiresAt: nat(4) });
const takeCommand = record({ op: constant("takeChallenge"), flow, challenge, at });

const flowCommand: FastCheck.Arbitrary<VerificationCommand> = oneof(
  {
    weight: 3,
    arbitrary: record({ op: constant("beginFlow"), flow, session: option(session, { freq: 3 }), scope }),
  },
  { weight: 6, arbitrary: record({ op: constant("prove"), flow, proof, at: early, nextFlow: flow }) },
  { weight: 1, arbitrary: record({ op: constant("findFlow"), flow, at }) },
  { weight: 1, arbitrary: record({ op: constant("endFlow"), flow }) },
  { weight: 1, arbitrary: challengeCommand },
  { weight: 1, arbitrary: takeCommand },
);

export const verificationCommand: FastCheck.Arbitrary<VerificationCommand> = oneof(
  sessionCommand,
  flowCommand,
);

/**
 * The commands of one flow in their usual order, until both accounts are proven or the flow is completed. Independent
 * random commands seldom have this order.
 */
export const verificationWalk: FastCheck.Arbitrary<ReadonlyArray<VerificationCommand>> = record({
  session: option(session, { freq: 3 }),
  flow,
  scope,
  chatId,
  gameId,
  isCompleted: FastCheck.boolean(),
  keeps,
}).map(({ session: asked, flow: walked, scope: where, chatId: chat, gameId: game, isCompleted, ...rest }) => {
  const prove = (proven: Proof) =>
    ({ op: "prove", flow: walked, proof: proven, at: 0, nextFlow: walked }) as const;
  return [
    ...(asked === null
      ? []
      : [
          {
            op: "createSession",
            session: asked,
            scope: where,
            chatId: null,
            isLimited: false,
            at: 0,
          } as const,
        ]),
    { op: "beginFlow", flow: walked, session: asked, scope: where },
    prove({ step: "chat", chatId: chat }),
    prove({ step: "game", gameId: game }),
    ...(isCompleted
      ? [{ op: "complete", scope: where, flow: walked, chatId: chat, gameId: game, at: 1, ...rest } as const]
      : []),
  ];
});

/** Random commands on one flow. They store challenges, take challenges, and add proofs, which delete challenges. */
export const challengeWalk: FastCheck.Arbitrary<ReadonlyArray<VerificationCommand>> = record({
  flow,
  scope,
  steps: array(oneof(challengeCommand, takeCommand, record({ op: constant("prove"), proof, at: early })), {
    minLength: 3,
    maxLength: 8,
    size: "max",
  }),
}).map(({ flow: walked, scope: where, steps }) => [
  { op: "beginFlow", flow: walked, session: null, scope: where },
  ...steps.map((step) => ({ nextFlow: walked, ...step, flow: walked })),
]);

/** Sweeps are used only among sequential commands, because a sweep is not atomic. */
export const sweepCommand: FastCheck.Arbitrary<VerificationCommand> = record({
  op: constant("sweep"),
  at,
  sessionsBefore: oneof({ weight: 3, arbitrary: constant(0) }, { weight: 1, arbitrary: constantFrom(3, 4) }),
});
