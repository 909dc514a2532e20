/** For tests: runs the command line as a process whose dev platform has the routes that control it. */
import { withTestControl } from "@accountlink/dev-platforms/test_control";
import { runCommandLine } from "./command_line.ts";
import { runProcess } from "./process.ts";

runProcess(withTestControl(runCommandLine));
