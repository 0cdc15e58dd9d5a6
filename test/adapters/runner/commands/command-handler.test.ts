import { describe, expect, it } from 'vitest';
import { HostMeter } from '../../../../adapters/runner/commands/command-handler.js';

describe('the usage of a host', () => {
  /** A processor that has worked for so many milliseconds. */
  const worked = (user: number, sys: number, idle: number) => [
    { times: { user, nice: 0, sys, idle, irq: 0 }, speed: 2000 },
  ];

  it('is that since the last reading; the first is that since the host began', () => {
    let now = worked(600, 400, 9_000);
    const meter = new HostMeter(() => now);
    const read = () => meter.read(null, 0).processors;
    expect(read()).toEqual([{ user: 6, system: 4, idle: 90, megahertz: 2000 }]);
    now = worked(1_100, 500, 9_400);
    expect(read()).toEqual([{ user: 50, system: 10, idle: 40, megahertz: 2000 }]);
  });

  it('is the last one again where too little time has passed', () => {
    let now = worked(500, 0, 500);
    const meter = new HostMeter(() => now);
    meter.read(null, 0);
    now = worked(510, 0, 500);
    expect(meter.read(null, 0).processors[0]).toMatchObject({ user: 50, idle: 50 });
    now = worked(510, 0, 1_000);
    expect(meter.read(null, 0).processors[0]?.user).toBeCloseTo((100 * 10) / 510);
  });
});
