"""From values to places, with marks at round numbers. Values are whole cents; labels are thousand euros."""


class Scale:
    def __init__(self, values, start, end, marks=4):
        """Maps 0 and all `values` to between `start` and `end`, in about so many steps of 1, 2, 2.5 or 5 times a power of 10."""
        low, high = min(0, *values), max(0, *values)
        self.step = round_step(max(high - low, 1), marks)
        self.low = low // self.step * self.step
        self.high = max(-(-high // self.step) * self.step, self.low + self.step)
        self._start, self._end = start, end

    def at(self, value):
        return self._start + (self._end - self._start) * (value - self.low) / (self.high - self.low)

    def marks(self):
        """(value, label) of each mark."""
        return [(value, self.label(value)) for value in range(self.low, self.high + 1, self.step)]

    def label(self, value):
        decimals = 0 if self.step % 100_000 == 0 else 1 if self.step % 10_000 == 0 else 2
        return thousands(value, decimals)


def round_step(span, marks):
    power = 1
    while True:
        for step in (10 * power, 20 * power, 25 * power, 50 * power):
            if step * marks >= span:
                return step
        power *= 10


def thousands(cents, decimals=1):
    return f"{cents / 100_000:,.{decimals}f}".replace("-", "−")
