/** The program behind `main.ts`. */
import { runCommandLine } from "./command_line.ts";
import { runProcess } from "./process.ts";

runProcess(runCommandLine);
