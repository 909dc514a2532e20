/**
 * Turns of processes to write to a database that one at a time can write to.
 *
 * SQLite has no queue: who finds the database locked tries again later, and a process that writes all the time hardly
 * leaves it a moment. Turns are about fairness alone. Without one a process may write as soon as SQLite lets it.
 */

/** What a process is told: that it is its turn, and that others wait for it to end. */
export type TurnNotice = "granted" | "asked";

/** What a process tells: that it wants to write, and that its turn is over. */
export type TurnRequest = "wanted" | "done";

/** The turns of all processes, in the order in which they wanted them. */
export class WriteTurns<Writer> {
  readonly #tell: (writer: Writer, notice: TurnNotice) => void;
  #holder: Writer | null = null;
  #queue: Array<Writer> = [];

  constructor(tell: (writer: Writer, notice: TurnNotice) => void) {
    this.#tell = tell;
  }

  hear(writer: Writer, request: TurnRequest): void {
    if (request === "done") this.#end(writer);
    else if (this.#holder === null) this.#grant(writer);
    else {
      if (this.#queue.length === 0) this.#tell(this.#holder, "asked");
      this.#queue.push(writer);
    }
  }

  /** The process has ended. */
  remove(writer: Writer): void {
    this.#queue = this.#queue.filter((waiting) => waiting !== writer);
    this.#end(writer);
  }

  #end(writer: Writer): void {
    if (this.#holder !== writer) return;
    this.#holder = null;
    const next = this.#queue.shift();
    if (next !== undefined) this.#grant(next);
  }

  #grant(writer: Writer): void {
    this.#holder = writer;
    this.#tell(writer, "granted");
    if (this.#queue.length > 0) this.#tell(writer, "asked");
  }
}

/** How long a turn lasts at most when others wait, beyond the write that is under way, in milliseconds. */
const longestTurn = 10;

/** Who waits for longer writes without a turn, in milliseconds: the process whose turn it is may be frozen. */
const longestWait = 1_000;

/** The turns of this process. It keeps its turn until another one wants it. */
export class OwnWriteTurn {
  readonly #tell: (request: TurnRequest) => void;
  #state: "none" | "wanted" | "held" = "none";
  #heldSince = 0;
  #isAsked = false;
  #writes = 0;
  #waiting = new Set<() => void>();

  constructor(tell: (request: TurnRequest) => void) {
    this.#tell = tell;
  }

  hear(notice: TurnNotice): void {
    if (notice === "asked") {
      this.#isAsked = true;
      if (this.#writes === 0) this.#end();
      return;
    }
    this.#state = "held";
    this.#heldSince = performance.now();
    for (const begin of this.#waiting) begin();
  }

  /** Waits for the turn to write. */
  async begin(): Promise<void> {
    if (this.#state !== "held" || this.#isOver()) return this.#wait();
    this.#writes++;
  }

  /** Ends a write. */
  end(): void {
    this.#writes--;
    if (!this.#isAsked || this.#writes > 0) return;
    // The next write of this process begins at once, or not at all.
    if (this.#isOver()) this.#end();
    else setImmediate(this.#endUnlessUsed);
  }

  #isOver(): boolean {
    return this.#isAsked && performance.now() - this.#heldSince > longestTurn;
  }

  readonly #endUnlessUsed = () => {
    if (this.#isAsked && this.#writes === 0) this.#end();
  };

  #end(): void {
    if (this.#state !== "held") return;
    this.#isAsked = false;
    this.#state = "none";
    this.#tell("done");
    if (this.#waiting.size > 0) this.#want();
  }

  #want(): void {
    this.#state = "wanted";
    this.#tell("wanted");
  }

  #wait(): Promise<void> {
    const turn = new Promise<void>((resolve) => {
      const begin = () => {
        clearTimeout(timer);
        this.#waiting.delete(begin);
        this.#writes++;
        resolve();
      };
      const timer = setTimeout(begin, longestWait);
      this.#waiting.add(begin);
    });
    if (this.#state === "none") this.#want();
    return turn;
  }
}
