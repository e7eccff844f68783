"""Reads a trace in Perfetto's own format as its trace processor does, without it.

Field numbers are those of perfetto/trace/trace_packet.proto and its imports.
"""
import collections
import struct

VARINT, FIXED64, BYTES = 0, 1, 2
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        assert shift < 70, "a varint of more than 10 bytes"


def fields(data):
    """Decodes a message: {field number: [value, …]}, with messages and strings as bytes."""
    found = collections.defaultdict(list)
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        number, kind = tag >> 3, tag & 7
        assert number > 0 and kind in (VARINT, FIXED64, BYTES), (number, kind)
        if kind == VARINT:
            value, at = _varint(data, at)
        elif kind == FIXED64:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        else:
            size, at = _varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size, "a message is cut off"
        found[number].append(value)
    return found


def _signed(value):
    return value - (1 << 64) if value >= 1 << 63 else value


def _one(message, number, default=None):
    assert len(message.get(number, [])) <= 1, f"field {number} is repeated"
    return message[number][0] if number in message else default


def _text(message, number):
    value = _one(message, number)
    return None if value is None else value.decode("utf-8")


Slice = collections.namedtuple("Slice", "name category track start end depth facts arrows_from arrows_to")
Track = collections.namedtuple("Track", "name pid tid parent is_counter")


class Perfetto:
    """Has `slices` (end None: never ended), `counters` [(track, time, value)], and `tracks` by number."""

    def __init__(self, data):
        self.tracks, self.slices, self.counters = {}, [], []
        self._strings = {1: {}, 2: {}, 3: {}}  # interned categories, names, annotation names
        events = []
        trace = fields(data)
        assert set(trace) <= {1}
        for packet in map(fields, trace.get(1, [])):
            assert _one(packet, 10) == 1 and set(packet) <= {6, 8, 10, 11, 12, 13, 60}, sorted(packet)
            if 60 in packet:
                self._descriptor(fields(_one(packet, 60)))
            if 12 in packet:
                self._intern(fields(_one(packet, 12)))
            if 11 in packet:
                events.append((_one(packet, 8), fields(_one(packet, 11))))
        self._replay(sorted(events, key=lambda event: event[0]))

    def _descriptor(self, message):
        number = _one(message, 1)
        assert number not in self.tracks, "two descriptors of one track"
        process, thread = fields(_one(message, 3, b"")), fields(_one(message, 4, b""))
        name = _text(message, 2) or _text(process, 6) or _text(thread, 5)
        self.tracks[number] = Track(name, _one(process, 1) or _one(thread, 1), _one(thread, 2), _one(message, 5),
                                    8 in message)

    def _intern(self, message):
        for kind, entries in message.items():
            for entry in map(fields, entries):
                assert _one(entry, 1) not in self._strings[kind], "two strings of one number"
                self._strings[kind][_one(entry, 1)] = _text(entry, 2)

    def _facts(self, event):
        facts = {}
        for fact in map(fields, event.get(4, [])):
            name = self._strings[3][_one(fact, 1)]
            if 6 in fact or 9 in fact:
                facts[name] = _text(fact, 6 if 6 in fact else 9)
            elif 5 in fact:
                facts[name] = struct.unpack("<d", struct.pack("<Q", _one(fact, 5)))[0]
            else:
                facts[name] = _signed(_one(fact, 4)) if 4 in fact else bool(_one(fact, 2))
        return facts

    def _replay(self, events):
        open_slices = collections.defaultdict(list)
        for time, event in events:
            kind, track = _one(event, 9), _one(event, 11)
            assert track in self.tracks, "an event on a track without a descriptor"
            stack = open_slices[track]
            if kind == COUNTER:
                assert self.tracks[track].is_counter
                self.counters.append((track, time, _signed(_one(event, 30))))
            elif kind == END:
                assert stack, "an end without a begin"
                began = stack.pop()
                self.slices.append(began._replace(end=time))
            else:
                assert kind in (BEGIN, INSTANT)
                name = self._strings[2][_one(event, 10)] if 10 in event else _text(event, 23)
                slice_ = Slice(name, self._strings[1][_one(event, 3)], track, time, time, len(stack),
                               self._facts(event), event.get(47, []), event.get(48, []))
                (self.slices if kind == INSTANT else stack).append(slice_)
        for stack in open_slices.values():
            self.slices += [began._replace(end=None) for began in stack]

    def process_of(self, slice_):
        """(pid, name) of the process that the slice's track belongs to."""
        track = self.tracks[slice_.track]
        while track.parent is not None:
            track = self.tracks[track.parent]
        name = next(other.name for other in self.tracks.values() if other.pid == track.pid and other.tid is None)
        return track.pid, name

    def total(self, chosen):
        """Total ns of the slices for which chosen(slice) is true; slices without an end do not count."""
        return sum(s.end - s.start for s in self.slices if s.end is not None and chosen(s))
