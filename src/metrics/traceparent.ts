/** `version-traceid-spanid-flags` of W3C Trace Context; later versions may add fields after another dash. */
const pattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-[\x21-\x7e]*)?$/;
/** Maximum length: later versions may have further fields. */
const longest = 256;

/** Flags: recorded by the caller; the trace ID is random. */
const knownFlags = 0x03;

/** The content of a `traceparent`. */
interface TraceParent {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits: the caller's span. */
  readonly spanId: string;
  /** Bit 0: the caller may have recorded the trace. */
  readonly flags: number;
}

/** Parses a `traceparent`; undefined for anything else, as the specification requires ignoring it. */
export function parseTraceparent(text: string): TraceParent | undefined {
  const found = text.length > longest ? null : pattern.exec(text);
  if (found === null) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', more] = found;
  const isVersion = version !== 'ff' && (version !== '00' || more === undefined);
  const isSpan = !/^0+$/.test(traceId) && !/^0+$/.test(spanId);
  return isVersion && isSpan ? { traceId, spanId, flags: Number.parseInt(flags, 16) & knownFlags } : undefined;
}

/** In the form of version 00, whatever version it came in. */
export function printTraceparent({ traceId, spanId, flags }: TraceParent): string {
  return `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`;
}

/** The same trace in the form of version 00; undefined for an invalid one. */
export function cleanTraceparent(text: string | undefined): string | undefined {
  const parsed = text === undefined ? undefined : parseTraceparent(text);
  return parsed === undefined ? undefined : printTraceparent(parsed);
}
