/** One measured row of a scenario: how ours compares with the floor, taken in the same process in alternating slices. */
export interface Measured {
  readonly name: string;
  /** Medians over the slices, in `unit`. */
  readonly ours: number;
  readonly floor: number;
  /** Median of the paired ratios ours / floor. */
  readonly ratio: number;
  readonly unit: string;
  readonly limit: { readonly max?: number; readonly min?: number };
}

/** Runs for about the given milliseconds and tells how many operations it did. */
export type Slice = (milliseconds: number) => Promise<number> | number;

/** What time is counted: `cpu`, this process's own, is steady on a busy machine; `wall` counts waiting for the disk too. */
export type Clock = 'wall' | 'cpu';

const WARM_UP = 2;

/**
 * Measures rates (operations a second). Both sides run in every round, in turned order, so that a disturbance of the machine
 * meets both; the first rounds only warm up.
 */
export async function compareRates(
  name: string,
  ours: Slice,
  floor: Slice,
  limit: Measured['limit'],
  { slices = 9, milliseconds = 200, clock = 'wall' as Clock } = {},
): Promise<Measured> {
  const rounds: { ours: number; floor: number }[] = [];
  for (let round = 0; round < slices + WARM_UP; round++) {
    const first = round % 2 === 0;
    const early = await rate(first ? ours : floor, milliseconds, clock);
    const late = await rate(first ? floor : ours, milliseconds, clock);
    if (round >= WARM_UP) rounds.push(first ? { ours: early, floor: late } : { ours: late, floor: early });
  }
  return {
    name,
    ours: median(rounds.map((round) => round.ours)),
    floor: median(rounds.map((round) => round.floor)),
    ratio: median(rounds.map((round) => round.ours / round.floor)),
    unit: 'per second',
    limit,
  };
}

/** A measured row of costs: nanoseconds for one operation instead of operations a second. */
export function asCost(measured: Measured): Measured {
  const cost = (perSecond: number) => 1e9 / perSecond;
  return {
    ...measured,
    ours: cost(measured.ours),
    floor: cost(measured.floor),
    ratio: 1 / measured.ratio,
    unit: 'ns each',
  };
}

/** A document of about four kibibytes, like a stored job: nested, with texts, numbers and lists. */
export function sampleDocument(id: string, index: number) {
  const task = (name: string) => ({
    Name: name,
    Driver: 'docker',
    Config: { image: `registry.example/${name}:1.2.3`, ports: ['http', 'metrics'], args: ['-v', '--listen', ':8080'] },
    Env: { LOG_LEVEL: 'info', REGION: 'eu-1', DATABASE_URL: 'postgres://db.internal/app', FEATURE_FLAGS: 'a,b,c' },
    Resources: { CPU: 500, MemoryMB: 256, DiskMB: 0, IOPS: 0 },
    Services: [
      { Name: `${name}-service`, PortLabel: 'http', Tags: ['web', 'public'], Checks: [{ Type: 'http', Path: '/' }] },
    ],
    Templates: [{ DestPath: 'local/config.env', EmbeddedTmpl: 'KEY={{ key "app/key" }}\n'.repeat(6) }],
    LogConfig: { MaxFiles: 10, MaxFileSizeMB: 10 },
  });
  return {
    ID: id,
    Name: id,
    Namespace: 'default',
    Type: 'service',
    Priority: 50,
    Status: index % 3 === 0 ? 'pending' : 'running',
    Datacenters: ['dc1', 'dc2'],
    Meta: { owner: 'team-a', filler: 'x'.repeat(2100) },
    TaskGroups: [{ Name: 'web', Count: 3, Tasks: [task('server'), task('sidecar')] }],
    SubmitTime: 1_700_000_000_000 + index,
  };
}

async function rate(slice: Slice, milliseconds: number, clock: Clock): Promise<number> {
  const start = millisecondsOf(clock);
  const done = await slice(milliseconds);
  return (done * 1000) / (millisecondsOf(clock) - start);
}

function millisecondsOf(clock: Clock): number {
  if (clock === 'wall') return performance.now();
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] as number;
}
