// The team's webhook receiver: verifies every signature and records the notifications.
import { createServer } from 'node:http';
import { verifySignature } from 'signalbox/receiver';

export async function startReceiver(token) {
  const received = [];
  const faults = [];
  let refusing = false;
  const receive = async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const checked = verifySignature({ body, headers: request.headers, token });
    if (checked.isErr()) faults.push(checked.error.message);
    // While it refuses, the sender keeps its notifications and retries.
    if (refusing) return response.writeHead(503, { 'retry-after': '1' }).end();
    if (checked.isOk()) received.push(checked.value);
    return response.writeHead(checked.isOk() ? 204 : 401).end();
  };
  const server = createServer((request, response) => void receive(request, response));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const triggers = () =>
    received.map((payload) => ({
      run: payload.run_url ?? '',
      id: payload.run_id,
      message: payload.run_message,
      trigger: payload.notifications[0].trigger,
    }));
  const of = (jobId) =>
    triggers().filter(({ run, id, message }) =>
      [run, id, message].some((text) => text?.includes(jobId) || decodeURIComponent(text ?? '').includes(jobId)),
    );
  return {
    url: `http://127.0.0.1:${server.address().port}/hook`,
    refuse: (value) => {
      refusing = value;
    },
    verifications: () => triggers().filter(({ trigger }) => trigger === 'verification').length,
    sawTrigger: (jobId, trigger) => of(jobId).some((item) => item.trigger === trigger),
    triggersOf: (jobId) => [...new Set(of(jobId).map(({ trigger }) => trigger))],
    count: () => received.length,
    faults: () => faults,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
