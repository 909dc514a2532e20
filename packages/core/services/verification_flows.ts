/**
 * The public verification flow: a browser proves a chat account and a game account, and confirms their link.
 */
import { Context, Effect, Layer } from "effect";
import type { ClientAddress } from "../client_address.ts";
import type { SharedIpRateLimited, StoreUnavailable } from "../errors.ts";
import type { FlowEntry, FlowRefused } from "../flow_refusal.ts";
import type { ChatId, GameId, GuildId, Sid } from "../ids.ts";
import { flowEndings } from "../internal/flow_endings.ts";
import { flowObserver } from "../internal/flow_events.ts";
import { flowSteps } from "../internal/flow_steps.ts";
import type { Millis } from "../link.ts";
import type { ChatProfile, GameProfile, Guild } from "../profile.ts";
import type { ProofStep } from "../verification_flow.ts";

/** An account that a browser has proven, or that is linked already; the profile is null when it cannot be had. */
export interface ShownAccount<Id, Profile> {
  readonly id: Id;
  readonly profile: Profile | null;
}

/** How far a browser has come. */
export interface FlowView {
  readonly entry: FlowEntry;
  readonly sid: Sid | null;
  /** The account whose community asks. */
  readonly asking: string;
  /** The guild that they ask for; its name is null when it cannot be had. */
  readonly guild: Guild | null;
  readonly redirect: string | null;
  readonly expiresAt: Millis;
  readonly chat: ShownAccount<ChatId, ChatProfile> | null;
  readonly game: ShownAccount<GameId, GameProfile> | null;
  /** The other game account that the chat user is linked to, and that confirming would replace. */
  readonly replaces: ShownAccount<GameId, GameProfile> | null;
  /** What the forms of the page have to carry. */
  readonly csrf: string;
}

/** What a step gives besides what it is for: the cookie that the browser has to hold from now on. */
export interface WithCookie {
  readonly cookie: string;
}

/** A flow that has ended. */
export interface FlowEnded {
  readonly entry: FlowEntry;
  /** The guild that it was for. */
  readonly guildId: GuildId | null;
}

/** What came of confirming: where the user goes on to, told how it ended; or, for nowhere, what was linked. */
export type FlowConfirmed =
  | (FlowEnded & { readonly redirect: string })
  | (FlowEnded & {
      readonly redirect: null;
      readonly chat: ShownAccount<ChatId, ChatProfile>;
      readonly game: ShownAccount<GameId, GameProfile>;
      readonly linkChanged: boolean;
    });

export type FlowError = FlowRefused | StoreUnavailable;

type Cookie = string | null;

/**
 * What a browser can do. It is known by a cookie, which changes with every proof, so that a cookie that somebody else
 * has put into the browser is worth nothing once there is a proof.
 */
export class VerificationFlows extends Context.Service<
  VerificationFlows,
  {
    /** What the browser is shown. Changes nothing, as link previews fetch it too. */
    readonly view: (entry: FlowEntry, cookie: Cookie) => Effect.Effect<FlowView & WithCookie, FlowError>;

    /**
     * Begins a proof. The first one, that of the chat account, opens the session.
     *
     * @param entry null to go on with the flow that the browser has begun
     * @param redirectUri the address of the callback
     * @returns where the browser goes
     */
    readonly start: (
      step: ProofStep,
      entry: FlowEntry | null,
      cookie: Cookie,
      redirectUri: string,
    ) => Effect.Effect<{ readonly url: string; readonly entry: FlowEntry } & WithCookie, FlowError>;

    /**
     * Takes a proof that the browser came back with.
     *
     * @param callback the query that the platform sent the browser back with
     */
    readonly finish: (
      step: ProofStep,
      cookie: Cookie,
      callback: URLSearchParams,
      redirectUri: string,
    ) => Effect.Effect<{ readonly entry: FlowEntry } & WithCookie, FlowError>;

    /** Stores the link that both proofs make. A flow without a session counts against its address. */
    readonly confirm: (
      cookie: Cookie,
      form: FlowForm,
      from: { readonly address: ClientAddress; readonly requestId: string },
    ) => Effect.Effect<FlowConfirmed, FlowError | SharedIpRateLimited>;

    /** Ends the flow, and cancels its session. */
    readonly cancel: (cookie: Cookie, form: FlowForm) => Effect.Effect<FlowEnded, FlowError>;
  }
>()("@accountlink/core/VerificationFlows") {
  static readonly layer = Layer.effect(
    VerificationFlows,
    Effect.gen(function* () {
      const observed = yield* flowObserver;
      const { view, start, finish } = yield* flowSteps;
      const { confirm, cancel } = yield* flowEndings;
      return VerificationFlows.of({
        // A browser that has this cookie has entered here before.
        view: (entry, cookie) => observed("entered", view(entry, cookie), (shown) => shown.cookie !== cookie),
        start: (step, ...args) => observed(`${step}_started`, start(step, ...args)),
        finish: (step, ...args) => observed(`${step}_proven`, finish(step, ...args)),
        confirm: (...args) => observed("completed", confirm(...args)),
        cancel: (...args) => observed("cancelled", cancel(...args)),
      });
    }),
  );
}

/** What the forms of a page send. */
export interface FlowForm {
  readonly csrf: string | null;
  /** The session of the page; it tells what became of a flow that is gone. */
  readonly sid: string | null;
}
