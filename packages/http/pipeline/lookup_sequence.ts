/** Whether requests come one after the other, as they do on most nodes most of the time. */

/** What the next request asks of one before. */
export interface Turn {
  isAnswered: boolean;
  isRefused: boolean;
  /** Whether another request was under way when it came, or came meanwhile. */
  hasCompany: boolean;
}

/** The requests of a node, of which only the last one is known. */
export class RequestSequence {
  #last: Turn = { isAnswered: true, isRefused: false, hasCompany: false };

  /** Begins a request. */
  begin(): { readonly turn: Turn; readonly isAlone: boolean } {
    const last = this.#last;
    const hasCompany = !last.isAnswered;
    if (hasCompany) last.hasCompany = true;
    const turn = { isAnswered: false, isRefused: false, hasCompany };
    this.#last = turn;
    return { turn, isAlone: !last.hasCompany && !last.isRefused };
  }
}
