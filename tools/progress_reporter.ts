import { relative } from "node:path";
import { DefaultReporter, type TestModule, type TestSpecification } from "vitest/node";

/** How often a run says how far it is, in milliseconds. */
const period = 10_000;

/** How many of the files that took longest a run lists at its end. */
const mostListed = 10;

/**
 * Prints failures in full. Of passed tests, prints every 10 seconds how many files have ended, and at the end which took
 * longest.
 */
// oxlint-disable-next-line import/no-default-export -- vitest loads the default export of a reporter
export default class ProgressReporter extends DefaultReporter {
  readonly #started = new Map<string, number>();
  readonly #took = new Map<string, number>();
  readonly #projects = new Set<string>();
  #all = 0;
  #ended = 0;
  #failed = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor() {
    super({ summary: false });
  }

  override onTestRunStart(specifications: ReadonlyArray<TestSpecification>): void {
    super.onTestRunStart(specifications);
    this.#all = specifications.length;
    for (const { project } of specifications) this.#projects.add(project.name);
    this.#timer = setInterval(() => this.log(this.#progress()), period);
  }

  onTestModuleStart({ moduleId }: TestModule): void {
    this.#started.set(moduleId, performance.now());
  }

  override onTestModuleEnd(module: TestModule): void {
    super.onTestModuleEnd(module);
    const { moduleId } = module;
    this.#took.set(moduleId, performance.now() - (this.#started.get(moduleId) ?? performance.now()));
    this.#started.delete(moduleId);
    this.#ended += 1;
    if (!module.ok()) this.#failed += 1;
  }

  override onTestRunEnd(...result: Parameters<DefaultReporter["onTestRunEnd"]>): void {
    clearInterval(this.#timer);
    const longest = [...this.#took].toSorted(([, one], [, other]) => other - one).slice(0, mostListed);
    this.log(`\nThe files that took longest, in seconds:`);
    for (const [id, took] of longest) this.log(`${seconds(took).padStart(5)}  ${relative(".", id)}`);
    super.onTestRunEnd(...result);
  }

  override printTestModule(module: TestModule): void {
    if (!module.ok()) super.printTestModule(module);
  }

  #progress(): string {
    const failed = this.#failed === 0 ? "" : `, ${this.#failed} failed`;
    const [longest] = [...this.#started].toSorted(([, one], [, other]) => one - other);
    const running =
      longest === undefined
        ? ""
        : `; the longest running one is ${relative(".", longest[0])}, ${seconds(performance.now() - longest[1])} s`;
    return `${[...this.#projects].join(", ")}: ${this.#ended} of ${this.#all} files${failed}${running}`;
  }
}

const seconds = (milliseconds: number): string => (milliseconds / 1_000).toFixed(0);
