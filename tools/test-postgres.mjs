// Runs the tests of the PostgreSQL store on other versions of the server and of `pg`.
// Usage: npm run test:postgres [-- FILE...]. SIGNALBOX_POSTGRES_VERSIONS=14,15 chooses servers; by default 14 to 17 are tested with the
// installed `pg`, and then 18 with the oldest supported one. Linux on x64.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const npm = spawnSync('npm', ['ci', '--prefix', 'tools/postgres', '--ignore-scripts'], { cwd: root, stdio: 'inherit' });
if (npm.status !== 0) process.exit(1);
const named = process.env.SIGNALBOX_POSTGRES_VERSIONS;
const oldest = join(root, 'tools/postgres/node_modules/pg');
const runs = (named ?? '14,15,16,17').split(',').map((version) => ({ SIGNALBOX_POSTGRES_VERSION: version }));
if (named === undefined) runs.push({ SIGNALBOX_PG: oldest });
const files = process.argv.slice(2);
let failed = 0;
for (const run of runs) {
  const { SIGNALBOX_POSTGRES_VERSION: version = '18', SIGNALBOX_PG: pg } = run;
  console.log(`\n== PostgreSQL ${version}, pg ${pg === undefined ? 'newest' : 'oldest'}`);
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'postgres', ...files];
  const { status } = spawnSync(process.execPath, vitest, { cwd: root, stdio: 'inherit', env: { ...process.env, ...run } });
  if (status !== 0) failed += 1;
}
process.exitCode = failed;
