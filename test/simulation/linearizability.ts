/**
 * Checks linearizability: whether the operations on a record can be put in one order that explains all answers. In that
 * order, each operation takes effect at a moment between its request and its answer.
 *
 * The check uses the search of Wing and Gong. It goes through the answers in order, and keeps every configuration that
 * explains all answers so far. A configuration is a value, together with the open operations that have taken effect. An
 * answer that no configuration explains is a contradiction.
 */

/** The linked game user of a chat user, or null. */
export type Value = string | null;

/** What an answer says about the value: that the operation found this value, or that it found another value. */
export type Found = { readonly is: Value } | { readonly isNot: Value };

export interface Operation {
  readonly client: number;
  readonly called: number;
  /** The time of the answer. It is null if there is no answer; the operation may then take effect later, or never. */
  readonly answered: number | null;
  /** If there is no answer, the latest time at which the operation may take effect; by default, there is no limit. */
  readonly until?: number;
  /** What the answer says about the value, or null if there is no answer. */
  readonly found: Found | null;
  /** The value that the operation stored; absent for reads. */
  readonly wrote?: Value;
}

/**
 * Returns the operations up to the first answer that contradicts the earlier answers, or null if the whole history is
 * possible.
 *
 * @param initial the value before the first operation
 */
export const findContradiction = (
  history: ReadonlyArray<Operation>,
  initial: Value,
): ReadonlyArray<Operation> | null => {
  const search = new Search(initial);
  for (const { operation, kind, at } of eventsOf(history)) {
    if (kind === "call") search.call(operation);
    else if (kind === "lapse") search.lapse(operation);
    else if (!search.answer(operation)) return history.filter(({ called }) => called <= at);
  }
  return null;
};

/**
 * A possible state: the value, the open operations that have taken effect (`done`), and the unanswered writes that have
 * taken effect (`spent`).
 */
interface Configuration {
  readonly value: Value;
  readonly done: number;
  readonly spent: bigint;
}

const kinds = ["call", "answer", "lapse"] as const;

/**
 * Something that happens to an operation: it is called, it is answered, or from now on it can no longer take effect.
 */
interface Event {
  readonly operation: Operation;
  readonly kind: (typeof kinds)[number];
  readonly at: number;
}

/**
 * Returns the events of a history, sorted by time. At the same moment, calls come before answers, since the operations
 * may have overlapped.
 */
const eventsOf = (history: ReadonlyArray<Operation>): ReadonlyArray<Event> =>
  history
    .flatMap((operation): Array<Event> => {
      const { called, answered, until } = operation;
      const call = { operation, kind: "call", at: called } as const;
      if (answered !== null) return [call, { operation, kind: "answer", at: answered }];
      return until === undefined ? [call] : [call, { operation, kind: "lapse", at: until }];
    })
    .toSorted((one, other) => one.at - other.at || kinds.indexOf(one.kind) - kinds.indexOf(other.kind));

class Search {
  #configurations: ReadonlyArray<Configuration>;
  /**
   * The open operations whose answer comes later in the history, each with its bit. A configuration has this bit in
   * `done` if the operation has taken effect.
   */
  readonly #open = new Map<Operation, number>();
  /**
   * For each value, the unanswered writes that store the value, sorted by `until`. A configuration has the bit of a
   * write in `spent` if the write has taken effect.
   */
  readonly #unanswered = new Map<Value, Array<{ readonly bit: bigint; readonly until: number }>>();
  readonly #unansweredBits = new Map<Operation, bigint>();
  #nextBit = 1n;

  constructor(initial: Value) {
    this.#configurations = [{ value: initial, done: 0, spent: 0n }];
  }

  call(operation: Operation): void {
    const { answered, wrote, until = Number.POSITIVE_INFINITY } = operation;
    if (answered !== null) {
      this.#open.set(operation, this.#freeBit());
    } else if (wrote !== undefined) {
      const writes = [...(this.#unanswered.get(wrote) ?? []), { bit: this.#nextBit, until }];
      this.#unanswered.set(
        wrote,
        writes.toSorted((one, other) => (one.until < other.until ? -1 : 1)),
      );
      this.#unansweredBits.set(operation, this.#nextBit);
      this.#nextBit <<= 1n;
    }
  }

  /** Handles the moment after which an unanswered write can no longer take effect. */
  lapse(operation: Operation): void {
    const { wrote } = operation;
    const bit = this.#unansweredBits.get(operation);
    if (bit === undefined || wrote === undefined) return;
    const now = new Frontier();
    for (const { spent, ...same } of this.#configurations) now.add({ ...same, spent: spent & ~bit });
    for (const { done, spent } of this.#reachable(() => false)) {
      if ((spent & bit) === 0n) now.add({ value: wrote, done, spent });
    }
    this.#unanswered.set(
      wrote,
      (this.#unanswered.get(wrote) ?? []).filter((write) => write.bit !== bit),
    );
    this.#configurations = now.all();
  }

  /** Drops configurations that do not explain the answer, and returns whether any is left. */
  answer(operation: Operation): boolean {
    const bit = this.#open.get(operation) ?? 0;
    const explaining = new Frontier();
    const hasHappened = ({ done }: Configuration) => (done & bit) !== 0;
    for (const configuration of this.#reachable(hasHappened)) {
      if (hasHappened(configuration)) explaining.add({ ...configuration, done: configuration.done & ~bit });
    }
    this.#open.delete(operation);
    this.#configurations = explaining.all();
    return this.#configurations.length > 0;
  }

  /**
   * Returns the current configurations, and every configuration that they can become when open operations take effect.
   * Explores no further from a configuration for which `isFarEnough` returns true.
   */
  #reachable(isFarEnough: (configuration: Configuration) => boolean): ReadonlyArray<Configuration> {
    const explored = new Frontier();
    const agenda = [...this.#configurations];
    for (const configuration of agenda) {
      if (isFarEnough(configuration)) continue;
      for (const [next, nextBit] of this.#open) {
        if (configuration.done & nextBit) continue;
        agenda.push(...this.#after(configuration, next, nextBit).filter((each) => explored.add(each)));
      }
    }
    return agenda;
  }

  /**
   * Returns the configurations that can follow a configuration when an operation takes effect. If the operation did not
   * find the configuration's value, an unanswered write must have stored the found value right before the operation.
   * All other unanswered writes may still take effect later.
   */
  #after(
    { value, done, spent }: Configuration,
    { found, wrote }: Operation,
    bit: number,
  ): Array<Configuration> {
    const leave = (at: Value, spentThen: bigint): Configuration => ({
      value: wrote === undefined ? at : wrote,
      done: done | bit,
      spent: spentThen,
    });
    if (fits(found, value)) return [leave(value, spent)];
    return [...this.#unanswered]
      .filter(([written]) => fits(found, written))
      .flatMap(([written, writes]) => {
        // Of several unanswered writes of the same value, use the one with the earliest `until`, because the others
        // can still take effect later.
        const unspent = writes.find((write) => (spent & write.bit) === 0n);
        return unspent === undefined ? [] : [leave(written, spent | unspent.bit)];
      });
  }

  #freeBit(): number {
    const taken = [...this.#open.values()].reduce((all, bit) => all | bit, 0);
    const free = ~taken & (taken + 1);
    if (free <= 0) throw new Error("Cannot check the history: over 30 operations on one record at once");
    return free;
  }
}

const fits = (found: Found | null, value: Value): boolean =>
  found === null || ("is" in found ? found.is === value : found.isNot !== value);

/**
 * A set of configurations. If two differ only in `spent`, and one has spent every write that the other has spent, the
 * set drops the first, because everything that can follow it can also follow the other.
 */
class Frontier {
  readonly #groups = new Map<string, Array<Configuration>>();

  add(configuration: Configuration): boolean {
    const name = `${configuration.done} ${configuration.value}`;
    const group = this.#groups.get(name) ?? [];
    if (group.some(({ spent }) => (spent & configuration.spent) === spent)) return false;
    const kept = group.filter(({ spent }) => (spent & configuration.spent) !== configuration.spent);
    this.#groups.set(name, [...kept, configuration]);
    return true;
  }

  all(): ReadonlyArray<Configuration> {
    return [...this.#groups.values()].flat();
  }
}

/** Formats a history as lines, in the order of the calls. */
export const describeHistory = (history: ReadonlyArray<Operation>): string =>
  history
    .toSorted((one, other) => one.called - other.called)
    .map(({ client, called, answered, found, wrote }) => {
      const until = answered === null ? "no answer" : answered.toFixed(1);
      const did = wrote === undefined ? "read" : `wrote ${wrote}`;
      const saw = found === null ? "" : "is" in found ? `, found ${found.is}` : `, found not ${found.isNot}`;
      return `${called.toFixed(1)} to ${until}: client ${client} ${did}${saw}`;
    })
    .join("\n");
