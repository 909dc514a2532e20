/** Gives requests that cost more than a lookup their places. A request has its place from when its body is there. */
import { Clock, Context, Effect, Exit, Layer, Scope, Stream } from "effect";
import type { ClientAddress } from "../addresses/mod.ts";
import { monotonicMillis } from "../monotonic_millis.ts";
import { AddressRate } from "./address_rate.ts";
import { bounds } from "./bounds.ts";
import { type Asker, TurnAccount, Turns, TurnVisitor, turnOwner } from "./turns.ts";
import { WorkingTimes } from "./working_time.ts";

/** Runs a request of an account, or of a client address, as soon as it has a place. @internal */
export type InPlace = <A, E, R>(asker: Asker, answer: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>;

/**
 * Makes places for work of accounts. Beside other accounts, an account that has worked for more than its share waits.
 *
 * @internal
 */
export const makePlaces = (turns: Turns): Effect.Effect<InPlace> =>
  Effect.map(
    WorkingTimes,
    ({ accounts }): InPlace =>
      (asker, answer) =>
        turns.step(asker, accounts.pace(asker.account, answer)),
  );

const ofRequests = (share: number) => new Turns({ resource: "requests", share });

const unpaced = (share: number): InPlace => ofRequests(share).step;

/** What a request with a sign-in finds first. */
interface Found {
  readonly signIn: { readonly account: string | null; readonly chatId: string };
}

/** Whose work visits are: all together, since their addresses take turns. */
const visitors = "visitors";

/**
 * The places of requests. Each account has its own, so none waits for another account: its further requests wait for
 * its first ones, in rounds of its members and keys, an owner's first. @internal
 */
export class RequestPlaces extends Context.Service<RequestPlaces>()("@accountlink/core/RequestPlaces", {
  make: Effect.gen(function* () {
    const visits = new Turns({ resource: "page_visits", share: bounds.visits });
    const begins = new Turns({ resource: "visits_begun", places: bounds.dearRequests });
    const { accounts, visits: time } = yield* WorkingTimes;
    /** Pages take their turns at the writer and at platforms as visitors, until their account is charged. */
    const ofPages =
      (inPlace: InPlace): InPlace =>
      (asker, answer) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => {
          for (const noting of [accounts, time]) noting.note(asker.account, now);
          return inPlace(asker, Effect.provideService(answer, TurnVisitor, asker.account));
        });
    const further = new Turns({ resource: "visits_begun", places: 1 });
    // A sign-in does not rest for the visits of others.
    const free = new AddressRate();
    const visit = ofPages((asker, answer) => {
      const run = Effect.fnUntraced(function* (begun: Scope.Closeable) {
        const begin = Scope.provide(begins.take(asker), begun);
        yield* free.take(asker.account, bounds.dearRequests, yield* monotonicMillis)
          ? begin
          : further.step(asker, Effect.andThen(time.rest(visitors), begin));
        yield* Effect.forkChild(Effect.delay(Scope.close(begun, Exit.void), bounds.commitJoined));
        return yield* time.count(visitors, answer);
      });
      return visits.step(asker, Effect.acquireUseRelease(Scope.make(), run, Scope.close));
    });
    const reverse = yield* makePlaces(ofRequests(bounds.dearRequests));
    const finds = new Turns({ resource: "sign_ins_found", places: bounds.dearRequests });
    const files = new Turns({ resource: "exports", places: 1, longestRest: bounds.workedAtOnce });
    const forms = new Turns({ resource: "page_writes", share: bounds.dearRequests });
    const reads = new Turns({ resource: "page_reads", share: bounds.dearRequests });
    return {
      /** Answers a plain list of 50 chat users, which costs what four lookups cost. */
      bulk: yield* makePlaces(ofRequests(bounds.bulks)),

      /**
       * Answers which users have a game account, a thousand at most. Any number at a time while the account is alone: a turn
       * took a tenth of a lookup. On Redis, 33 answers at a time took 250 ms, in which a neighbour waited.
       */
      reverse: (<A, E, R>(asker: Asker, answer: Effect.Effect<A, E, R>) =>
        accounts.beside(
          asker.account,
          answer,
          Effect.suspend(() => reverse(asker, answer)),
        )) satisfies InPlace,

      /** Answers a long list, or a bulk that asks a platform or answers up to 50,000 users. */
      list: yield* makePlaces(ofRequests(bounds.dearRequests)),

      /**
       * Answers what may wait for a platform, such as a lookup with a guild. Its account does not rest: with rests, a guild
       * lookup of a client that sends one at a time took 44 ms beside others, 10 ms without.
       */
      platform: unpaced(bounds.dearRequests),

      /** Answers a write with a key and without a guild. */
      write: yield* makePlaces(ofRequests(bounds.writes)),

      /** Answers a read of the dashboard or of /me. */
      read: ofPages(yield* makePlaces(reads)),

      /** Answers a form of the dashboard or of /me. */
      form: ofPages(yield* makePlaces(forms)),

      /** Answers a request without a key or a sign-in in the place of its client address, if the address is known. */
      visit: <A, E, R>(address: ClientAddress | null, answer: Effect.Effect<A, E, R>) =>
        address === null ? answer : visit({ account: address.countedAs }, answer),

      /**
       * Finds the sign-in of a request, before its account has a place: four at a time, of one address after the other. The
       * work counts for the account: a short form takes no longer.
       */
      find: <A extends Found, E, R>(find: Effect.Effect<A, E, R>) =>
        Effect.flatMap(turnOwner, (owner) =>
          finds.step(
            owner,
            Effect.tap(find, ({ signIn: { account, chatId } }) =>
              accounts.count(account ?? chatId, Effect.void),
            ),
          ),
        ),

      /** Reads a file page by page, of one account after the other, in the place of a read until its last byte. */
      file: <A, E, R>(asker: Asker, chunks: Stream.Stream<A, E, R>) =>
        Stream.unwrap(
          Effect.map(Effect.andThen(reads.take(asker), Stream.toPull(chunks)), (pull) =>
            Stream.fromPull(Effect.succeed(files.step(asker, pull))),
          ),
        ).pipe(Stream.provideService(TurnAccount, asker.account)),
    };
  }),
}) {
  static readonly layer = Layer.effect(RequestPlaces, RequestPlaces.make);
}
