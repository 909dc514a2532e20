import { Context, Effect, Layer } from "effect";
import type { ClientAddress } from "../addresses/client_address.ts";
import type { SharedIpRateLimited, StoreUnavailable } from "../errors.ts";
import type { Sid } from "../ids.ts";
import { makeCancel } from "./cancel_flow.ts";
import { type ConfirmedFrom, makeConfirm } from "./confirm_flow.ts";
import { makeEnterByCode } from "./enter_by_code.ts";
import { makeFinish } from "./finish_proof.ts";
import type { Cookie } from "./flow_cookie.ts";
import { makeFlowObserver } from "./flow_events.ts";
import type { FlowForm } from "./flow_form.ts";
import type { FlowRefused } from "./flow_refusal.ts";
import type { FlowConfirmed, FlowEnded, FlowEntry, FlowView, WithCookie } from "./flow_view.ts";
import { makeStart } from "./start_proof.ts";
import type { ProofStep } from "./verification_flow.ts";
import { makeView } from "./view_flow.ts";

export type FlowError = FlowRefused | StoreUnavailable;

/**
 * The public verification flow: a browser proves a chat account and a game account, and confirms their link. A cookie
 * identifies the browser and changes with every proof, so a cookie planted by an attacker is useless after the first
 * proof.
 *
 * @example
 * ```ts
 * import { FlowRefused } from "@accountlink/core/flow";
 * import { memoryWorld } from "@accountlink/testing";
 * import { Effect } from "effect";
 *
 * const world = await memoryWorld();
 * const { sid } = await world.sessions.create({ clientId: "7" });
 * const view = (entry: { sid: string }) =>
 *   Effect.flatMap(VerificationFlows, (flows) => flows.view(entry, null));
 * (await world.run(view({ sid }))).asking; // "acme"
 * const refused = await world.run(Effect.flip(view({ sid: "vs_unknown" })));
 * refused instanceof FlowRefused && refused.reason; // "unknown"
 * await world.close();
 * ```
 */
export class VerificationFlows extends Context.Service<
  VerificationFlows,
  {
    /** Shows the page of the flow. It changes nothing, because link previews fetch it too. */
    readonly view: (entry: FlowEntry, cookie: Cookie) => Effect.Effect<FlowView & WithCookie, FlowError>;

    /**
     * Starts to prove an account. If it is the chat account, this opens the session.
     *
     * @param entry null to continue the flow of the browser
     * @param redirectUri the URL of the callback
     * @returns the URL of the sign-in
     */
    readonly start: (
      step: ProofStep,
      entry: FlowEntry | null,
      cookie: Cookie,
      redirectUri: string,
    ) => Effect.Effect<{ readonly url: string; readonly entry: FlowEntry } & WithCookie, FlowError>;

    /** Checks and stores the proof when the browser returns from a platform. */
    readonly finish: (
      step: ProofStep,
      cookie: Cookie,
      callback: URLSearchParams,
      redirectUri: string,
    ) => Effect.Effect<{ readonly entry: FlowEntry } & WithCookie, FlowError>;

    /** Finds the session of a typed code. An address that sent 10 wrong codes within a minute is refused. */
    readonly enterByCode: (
      typed: string,
      address: ClientAddress | null,
    ) => Effect.Effect<{ readonly entry: { readonly sid: Sid } }, FlowError | SharedIpRateLimited>;

    /**
     * Links the two proven accounts, or keeps the user's existing link. Without a session, the confirmation counts
     * towards the limit of the address, if the address is known.
     */
    readonly confirm: (
      cookie: Cookie,
      form: FlowForm,
      from: ConfirmedFrom,
    ) => Effect.Effect<FlowConfirmed, FlowError | SharedIpRateLimited>;

    /** Ends the flow and cancels its session. */
    readonly cancel: (cookie: Cookie, form: FlowForm) => Effect.Effect<FlowEnded, FlowError>;
  }
>()("@accountlink/core/VerificationFlows") {
  static readonly layer = Effect.gen(function* () {
    const observe = yield* makeFlowObserver;
    const enterByCode = yield* makeEnterByCode;
    const view = yield* makeView;
    const start = yield* makeStart;
    const finish = yield* makeFinish;
    const confirm = yield* makeConfirm;
    const cancel = yield* makeCancel;
    return VerificationFlows.of({
      // If the cookie stays the same, the browser has entered before, and the step is not recorded again.
      view: (entry, cookie) => observe("entered", view(entry, cookie), (page) => page.cookie !== cookie),
      enterByCode: (...args) => observe("code_entered", enterByCode(...args)),
      start: (step, ...args) => observe(`${step}_started`, start(step, ...args)),
      finish: (step, ...args) => observe(`${step}_proven`, finish(step, ...args)),
      confirm: (...args) => observe("completed", confirm(...args)),
      cancel: (...args) => observe("cancelled", cancel(...args)),
    });
  }).pipe(Layer.effect(VerificationFlows));
}
