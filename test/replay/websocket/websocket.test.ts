import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningServer } from '../../../adapters/cli/serve/serve.js';
import { compareTranscript, recordedTranscripts, startServer, unexpectedOf } from '../http/player.js';
import { acceptedConversations } from './accepted-steps.js';

/** Everything: about a minute. */
const all = process.env['SIGNALBOX_TRANSCRIPTS'] === 'all';
/** What waits for little else than the start and the end of one task. */
const quick =
  /^(action-(handshake|invalid|of-another-job|terminal)|exec-(command-fails|frames|parameters|task-ends|terminal-size))$/;

const transcripts = recordedTranscripts(new URL('exchanges.json', import.meta.url));
const played = transcripts.filter(({ name }) => all || quick.test(name));

describe('recorded conversations over WebSockets', () => {
  let server: RunningServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.stop());

  it('go as with the upstream', { timeout: all ? 300_000 : 60_000 }, async () => {
    expect(await unexpectedOf(server.origin, played, { accepted: acceptedConversations, lanes: all ? 2 : 9 })).toEqual(
      [],
    );
  });

  it('are many, and few of their steps are accepted', () => {
    expect(transcripts.length).toBeGreaterThan(25);
    expect(played.length).toBeGreaterThan(8);
    expect(acceptedConversations.flatMap(({ steps }) => steps).length).toBeLessThan(5);
  });

  it('a different word in the reason of a close is found', async () => {
    const transcript = transcripts.find(({ name }) => name === 'exec-parameters');
    if (transcript === undefined) throw new Error('exec-parameters is missing');
    const at = 27;
    const conversation = { accept: 'right', frames: [], end: { code: 1008, reason: 'Another word' } };
    const steps = transcript.steps
      .slice(0, at + 1)
      .map((step, index) => (index === at ? { ...step, answer: { status: 101, headers: {}, conversation } } : step))
      .filter((step, index) => index === at || step.answer === undefined);
    const [first] = (await compareTranscript(server.origin, { ...transcript, steps })).different;
    expect(first?.differences).toMatchObject([{ pointer: '/conversation/end/reason', recorded: 'Another word' }]);
  });
});
