/**
 * The media type with which a client requests the engine's own values and errors instead of the forms of the two
 * interfaces: the JSON of the value, or of `{"error": …}`.
 */
export const plainType = 'application/vnd.signalbox.v1+json';
