/**
 * The entry point of a worker process. Its command line is that of the primary process, which alone
 * follows signals: a terminal and some supervisors send them to all processes at once.
 */
import { enableCompileCache } from "node:module";

enableCompileCache(`${import.meta.dirname}/../../../node_modules/.cache/accountlink`);
void import("./worker_process.ts");
