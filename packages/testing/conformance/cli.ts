#!/usr/bin/env node
/** Runs the conformance suites, for example with `npx @accountlink/testing ./my_store.js`. */
import { runCommand } from "./command.ts";

// Exit explicitly, because an open connection of a store would keep the process running.
process.exit(await runCommand(process.argv.slice(2), process.stdout, process.stderr));
