import { runMutations } from './hcl-mutations.js';

/** `tsx test/bench/hcl-fuzz.ts [count] [seed]`: a long campaign of mutated inputs; exits with 1 when anything went wrong. */
const count = Number(process.argv[2] ?? 100_000);
const seed = Number(process.argv[3] ?? 1);
const started = performance.now();
const { accepted, refused, slowest, slowestInput, failures } = runMutations(count, seed);
const seconds = (performance.now() - started) / 1000;
console.log(
  `${accepted + refused} inputs in ${seconds.toFixed(1)} s: ${accepted} accepted, ${refused} refused, slowest ${slowest.toFixed(0)} ms`,
);
console.log(`slowest input: ${JSON.stringify(slowestInput.slice(0, 400))}`);
for (const { input, reason } of failures) console.log(`FAILURE ${reason}\n  ${JSON.stringify(input)}`);
process.exitCode = failures.length > 0 ? 1 : 0;
