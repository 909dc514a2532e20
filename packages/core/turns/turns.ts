/** Fair queueing by account for a resource that accounts share. */
import { Context, Data, Deferred, Effect, Exit, type Fiber, Metric, Scope } from "effect";
import { monotonicMillis } from "../monotonic_millis.ts";
import type { SharedResource } from "./resources.ts";

/** The account of work that belongs to no account, such as the operator's own. */
export const operatorAccount = "";

/** The account whose turn the work of a fiber takes. `PlatformRefusals.chargeTo` sets it. @internal */
export const TurnAccount = Context.Reference<string>("@accountlink/core/TurnAccount", {
  defaultValue: () => operatorAccount,
});

/**
 * The client address or the user whose turn work takes that belongs to no account, such as a sign-in; null for the
 * operator's own. @internal
 */
export const TurnVisitor = Context.Reference<string | null>("@accountlink/core/TurnVisitor", {
  defaultValue: () => null,
});

/** Whose turn the work of a fiber takes. @internal */
export const turnOwner: Effect.Effect<string> = Effect.flatMap(TurnAccount, (account) =>
  account === operatorAccount
    ? Effect.map(TurnVisitor, (visitor) => (visitor === null ? account : `visitor ${visitor}`))
    : Effect.succeed(account),
);

/** Whose turn a step takes. */
export interface Asker {
  readonly account: string;
  /** The member or the key of the account; people of an account take turns. */
  readonly person?: string;
  /** Whether the person goes before others of the account, as its owner does. */
  readonly isFirst?: boolean;
}

/** The account has too much waiting for a resource, or its work has waited for too long. @internal */
export class TurnRefused extends Data.TaggedError("TurnRefused") {}

export interface TurnsOptions {
  /** The name of the resource in the metric. */
  readonly resource: SharedResource;
  /** How many steps run at once; any number by default. */
  readonly places?: number;
  /**
   * How many places one account has while other accounts wait; all by default. With more, it leaves a quarter of the places
   * free, so that another account starts at once, and all of an unlimited number.
   */
  readonly share?: number;
  /**
   * A place rests after each step for as long as the step took, at most for so many milliseconds; by default it is free at
   * once. The answer of the step does not wait for it.
   */
  readonly longestRest?: number;
  /** How many steps of one account wait at most in `stepWithin`; any number by default. */
  readonly mostWaiting?: number;
}

/** A step that waits. */
interface Waiter {
  readonly asker: Asker;
  readonly granted: Deferred.Deferred<void>;
}

/** An account that uses the resource or waits for it. */
class Lane {
  readonly account: string;
  held = 0;
  waiting = 0;
  /** Whether the account held no place when it began to wait. */
  isNewcomer = false;
  /** What waits of each person, in order of arrival. The next person comes first. */
  readonly #people = new Map<string, Set<Waiter>>();

  constructor(account: string) {
    this.account = account;
  }

  add(waiter: Waiter): void {
    if (this.waiting++ === 0) this.isNewcomer = this.held === 0;
    const { person = "" } = waiter.asker;
    this.#people.set(person, (this.#people.get(person) ?? new Set()).add(waiter));
  }

  /** Removes a step. Returns whether it waited. */
  delete(waiter: Waiter): boolean {
    const { person = "" } = waiter.asker;
    const own = this.#people.get(person);
    if (own?.delete(waiter) !== true) return false;
    this.waiting--;
    if (own.size === 0) this.#people.delete(person);
    return true;
  }

  /** Removes the next step that waits. */
  take(): Waiter {
    const people = [...this.#people];
    const owner = people.find(([, [first]]) => first?.asker.isFirst === true);
    const [person, own] = (owner ?? people[0]) as [string, Set<Waiter>];
    const [next] = own as Set<Waiter> & [Waiter];
    this.delete(next);
    if (this.#people.delete(person)) this.#people.set(person, own);
    this.isNewcomer = false;
    return next;
  }
}

/**
 * Gives the places of a resource to the accounts that want them, in rounds: the next free place goes to the next account
 * that waits, within an account to the next person, an owner's first, and of a person to the step that came first. Every
 * other place goes to an account that came without one, if there is any, so that its first step waits for no round of
 * accounts that want more. A step that finds a free place runs at once, without a queue or a timer. @internal
 */
export class Turns {
  readonly #options: Required<TurnsOptions>;
  /** How many places an account with its share leaves free. */
  readonly #reserve: number;
  /** How long steps waited for a place. Steps that found a free one are not counted. */
  readonly #wait: Metric.Histogram<number>;
  readonly #lanes = new Map<string, Lane>();
  /** The accounts that wait, the next one first. */
  readonly #round = new Set<Lane>();
  #isNewcomersTurn = false;
  #held = 0;

  constructor(options: TurnsOptions) {
    const { resource, places = Number.POSITIVE_INFINITY } = options;
    this.#options = {
      places,
      share: places,
      longestRest: 0,
      mostWaiting: Number.POSITIVE_INFINITY,
      ...options,
    };
    this.#reserve = Math.floor(places / 4);
    this.#wait = Metric.histogram("accountlink_turn_wait_seconds", {
      description: "How long work waited for a resource that accounts share, in seconds",
      boundaries: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      attributes: { resource },
    });
  }

  /** How many steps wait. */
  get waiting(): number {
    let all = 0;
    for (const { waiting } of this.#round) all += waiting;
    return all;
  }

  /** Whether every place is free. */
  get isIdle(): boolean {
    return this.#held === 0;
  }

  /**
   * Runs a step of an account as soon as it has a place, and gives the place back when the step ends.
   *
   * @param limit ends the wait for the place
   */
  readonly step = <A, E, R, E2 = never>(
    from: string | Asker,
    step: Effect.Effect<A, E, R>,
    limit: (wait: Effect.Effect<void>) => Effect.Effect<void, E2> = (wait) => wait,
  ): Effect.Effect<A, E | E2, R> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(
        this.enter(from, (wait) => restore(limit(wait))),
        (giveBack) => Effect.onExit(restore(step), () => giveBack),
      ),
    );

  /**
   * Runs a step as `step` does. Fails if too many steps of the account wait already, or if the step has no place after
   * `longestWait`, in milliseconds.
   */
  stepWithin<A, E, R>(
    from: string | Asker,
    longestWait: number,
    step: Effect.Effect<A, E, R>,
  ): Effect.Effect<A, E | TurnRefused, R> {
    const late = { duration: longestWait, orElse: () => new TurnRefused() };
    const within = (wait: Effect.Effect<void>) => Effect.timeoutOrElse(wait, late);
    return Effect.suspend(() =>
      this.#laneOf(askerOf(from)).waiting >= this.#options.mostWaiting
        ? new TurnRefused()
        : this.step(from, step, within),
    );
  }

  /** Takes a place until the scope closes, for a stream. */
  take(from: string | Asker): Effect.Effect<void, never, Scope.Scope> {
    return Effect.uninterruptibleMask((restore) =>
      // `Effect.addFinalizer` would copy all services of the request for the finalizer.
      Effect.flatMap(this.enter(from, restore), (giveBack) =>
        Effect.flatMap(Effect.scope, (scope) => Scope.addFinalizer(scope, giveBack)),
      ),
    );
  }

  /**
   * Takes a place, and returns how to give it back. Call it in an uninterruptible region, whose `restore` makes the wait
   * interruptible.
   */
  enter<E>(
    from: string | Asker,
    restore: (wait: Effect.Effect<void>) => Effect.Effect<void, E>,
  ): Effect.Effect<Effect.Effect<void>, E> {
    return Effect.suspend(() => {
      const asker = askerOf(from);
      const lane = this.#laneOf(asker);
      const begin = this.#begin(lane);
      return this.#takeFree(lane) ? begin : Effect.andThen(this.#waitIn(lane, asker, restore), begin);
    });
  }

  #laneOf({ account }: Asker): Lane {
    const known = this.#lanes.get(account);
    if (known !== undefined) return known;
    const lane = new Lane(account);
    this.#lanes.set(account, lane);
    return lane;
  }

  /** Takes a free place. While others wait, only an account with less than its share may overtake them. */
  #takeFree(lane: Lane): boolean {
    if (!this.#mayTake(lane) || (this.#round.size > 0 && lane.held >= this.#options.share)) return false;
    lane.held++;
    this.#held++;
    return true;
  }

  #mayTake({ held }: Lane): boolean {
    const { places, share } = this.#options;
    return places - this.#held > (held < share ? 0 : this.#reserve);
  }

  /** Begins a step that has a place, and returns how to give the place back, once it has rested. */
  #begin(lane: Lane): Effect.Effect<Effect.Effect<void>> {
    const { longestRest } = this.#options;
    const giveBack = this.#giveBack(lane);
    if (longestRest === 0) return Effect.succeed(giveBack);
    return Effect.map(monotonicMillis, (began) =>
      Effect.flatMap(monotonicMillis, (now) =>
        Effect.asVoid(Effect.forkDetach(Effect.delay(giveBack, Math.min(longestRest, now - began)))),
      ),
    );
  }

  #giveBack(lane: Lane): Effect.Effect<void> {
    return Effect.withFiber((fiber) => {
      lane.held--;
      this.#held--;
      this.#grant(fiber);
      this.#forget(lane);
      return Effect.void;
    });
  }

  #waitIn<E>(
    lane: Lane,
    asker: Asker,
    restore: (wait: Effect.Effect<void>) => Effect.Effect<void, E>,
  ): Effect.Effect<void, E> {
    const waiter: Waiter = { asker, granted: Deferred.makeUnsafe() };
    lane.add(waiter);
    this.#round.add(lane);
    const ended = Effect.onExit(restore(Deferred.await(waiter.granted)), (exit) =>
      Exit.isSuccess(exit) ? Effect.void : this.#leave(lane, waiter),
    );
    return Effect.flatMap(monotonicMillis, (since) =>
      Effect.tap(ended, () =>
        Effect.flatMap(monotonicMillis, (now) => Metric.update(this.#wait, (now - since) / 1_000)),
      ),
    );
  }

  /** Ends the wait of a step that does not run. */
  #leave(lane: Lane, waiter: Waiter): Effect.Effect<void> {
    if (!lane.delete(waiter)) return this.#giveBack(lane);
    if (lane.waiting === 0) this.#round.delete(lane);
    this.#forget(lane);
    return Effect.void;
  }

  /** Gives free places to the accounts that wait. */
  #grant(fiber: Fiber.Fiber<unknown, unknown>): void {
    for (let lane = this.#next(); lane !== undefined; lane = this.#next()) {
      const { granted } = lane.take();
      this.#round.delete(lane);
      if (lane.waiting > 0) this.#round.add(lane);
      this.#isNewcomersTurn = !this.#isNewcomersTurn;
      lane.held++;
      this.#held++;
      // A step that starts while another one ends would run inside the end of it.
      fiber.currentDispatcher.scheduleTask(() => Deferred.doneUnsafe(granted, Exit.void), 0);
    }
  }

  #next(): Lane | undefined {
    if (this.#held >= this.#options.places) return undefined;
    let next: Lane | undefined;
    for (const lane of this.#round) {
      if (!this.#mayTake(lane)) continue;
      if (this.#isNewcomersTurn && lane.isNewcomer) return lane;
      const isBelow = lane.held < this.#options.share;
      if (isBelow && !this.#isNewcomersTurn) return lane;
      if (next === undefined || (isBelow && next.held >= this.#options.share)) next = lane;
    }
    return next;
  }

  #forget(lane: Lane): void {
    if (lane.held === 0 && lane.waiting === 0) this.#lanes.delete(lane.account);
  }
}

const askerOf = (from: string | Asker): Asker => (typeof from === "string" ? { account: from } : from);
